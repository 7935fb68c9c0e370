"""The test beds of the papers that measure players: scenarios, runs, and each statement beside the authors'."""
