"""One outside thing each, and no decisions."""
