"""kill -9 at chosen moments of a tick."""
