"""What viewers see, beside sessions drawn round by round by agents that share no code with the solvers."""
