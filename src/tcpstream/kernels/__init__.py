"""Compiled kernels: arrays in, arrays out, one file per algorithm; what they share is in `rows`.

Positions are indices into a window of packet counts that grow as TCP delivers. A packet is `steps_per_packet` positions
wide (1, or the denominator of a finer lattice). `cap` is the position of the ceiling: what would go past it stays
there.
"""
