"""Answers about a path and a video: what the solvers find, as values that a user asks."""
