"""The model beside the bundled simulator, in the ten settings of Section 4."""
