"""Kinds of steps, one file each: `command(step, room)` turns a step into the one process that does it."""
