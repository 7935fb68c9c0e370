"""A player of segments over one connection: ``python segment_client.py SEGMENTS SECONDS HELD``; prints its session.

Each segment is asked for when there is room for it.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from namespaces import ADDRESSES

from players.playback import Playback


def play(segments: int, playback: Playback) -> dict[str, Any]:
    """Fetch and play so many segments; return what `Fetched` has."""
    server = http.client.HTTPConnection(ADDRESSES[0])
    server.connect()
    overslept = 0.0
    for _ in range(segments):
        if (pause := playback.until_room) > 0:
            asleep = time.monotonic()
            time.sleep(pause)
            slept = time.monotonic() - asleep
            overslept = max(overslept, slept - pause)
            playback.waited(slept)
        asked = time.monotonic()
        server.request("GET", "/segment")
        server.getresponse().read()
        playback.fetched(time.monotonic() - asked)
    without_cpu = float(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    seen = {"downloads": playback.downloads, "stalls": playback.stalls}
    return {**seen, "overslept": overslept, "waited": without_cpu}


if __name__ == "__main__":
    print(json.dumps(play(int(sys.argv[1]), Playback(float(sys.argv[2]), float(sys.argv[3])))))
