"""A player with buffer thresholds: it starts, stalls and resumes by the media that it holds."""
