"""Solve the chain in an .npz file by PyDTMC and print the seconds; runs in PyDTMC's own environment."""

import json
import sys
import time

import numpy as np
from pydtmc import MarkovChain

file = sys.argv[1]
matrix = np.load(file)["matrix"]
MarkovChain(np.array([[0.5, 0.5], [0.5, 0.5]])).stationary_distributions  # noqa: B018
start = time.perf_counter()
found = MarkovChain(matrix).stationary_distributions
seconds = time.perf_counter() - start
if len(found) != 1:
    sys.exit(f"found {len(found)} stationary distributions")
np.save(file.removesuffix(".npz") + ".out.npy", found[0])
print(json.dumps(seconds))
