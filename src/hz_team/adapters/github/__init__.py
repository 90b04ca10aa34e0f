"""GitHub: the one place that knows it."""
