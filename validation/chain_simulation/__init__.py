"""A window chain simulated round by round, from its arrays: a check of the solvers where chains are large.

`direct.simulate` estimates late fractions and the probability that nothing is late; `splitting.split` late fractions
that are too small for that. Packets are not drawn one by one: the number up to the next loss is.
"""
