"""Ordinary rates: every chain on a coarse lattice of packets, in steps of several rounds."""
