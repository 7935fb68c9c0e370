"""The transient of a TCP chain: round by round from the start of a video."""
