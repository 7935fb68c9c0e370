"""The parts of `validation/differential.py`: cases, agents that draw packets, identities, and the evidence they give."""
