"""Paths whose bottleneck changes its rate, with the kernel's TCP."""
