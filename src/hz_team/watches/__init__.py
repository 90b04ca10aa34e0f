"""Kinds of watches, one a module or package: `poll(watch, cursor, tools) -> Polled`."""
