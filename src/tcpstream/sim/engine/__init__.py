"""The event loop of the simulator and what it runs: compiled, on flat arrays."""
