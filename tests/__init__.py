"""Tests mirror the tree under src/; what several of them share is imported from here by name."""
