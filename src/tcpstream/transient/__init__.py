"""The transient of a TCP source: round by round from the start of a video."""
