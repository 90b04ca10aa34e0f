"""Helpers that do a team's chores and ask before they publish."""

__version__ = "0.1.0"
