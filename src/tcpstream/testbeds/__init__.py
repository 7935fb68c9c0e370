"""The test beds of the papers that measure streaming players: scenarios, runs, and each statement beside its authors'."""
