"""One verb a file, in the order of `hz_team.tick`."""
