"""Cases, agents that draw packets, identities, and what they say of an answer: parts of `differential.py`."""
