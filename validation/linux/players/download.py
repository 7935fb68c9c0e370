"""Fetch a large file from the server, from the port that is captured, until killed."""

from __future__ import annotations

import http.client
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from namespaces import ADDRESSES

from players.network import CAPTURED_PORT


def main() -> None:
    """Fetch it."""
    server = http.client.HTTPConnection(ADDRESSES[0], source_address=(ADDRESSES[1], CAPTURED_PORT))
    server.request("GET", "/download")
    answer = server.getresponse()
    while answer.read(1 << 16):
        pass


if __name__ == "__main__":
    main()
