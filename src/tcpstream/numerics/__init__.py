"""Numerical tools that know nothing of TCP: measures on a lattice, roots, linear systems, intervals."""
