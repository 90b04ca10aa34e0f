"""What a user can type, one file a command; only here adapters meet the tick."""
