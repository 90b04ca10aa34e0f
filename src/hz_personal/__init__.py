"""The part of the helpers that needs one person's machine or credentials."""
