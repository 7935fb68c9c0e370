"""Other rules for the players of the test beds, each beside the rows of its paper."""
