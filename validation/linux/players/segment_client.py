"""A player of segments over one connection: ``python segment_client.py SEGMENTS SECONDS HELD``; prints its session.

Each segment is asked for when there is room for it, and is played once it is there whole; playback starts, and resumes
after a stall, with one segment.
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


def play(segments: int, seconds: float, held: float) -> dict[str, Any]:
    """Fetch and play so many segments of so many seconds each, and hold so much media at most [s]."""
    server = http.client.HTTPConnection(ADDRESSES[0])
    server.connect()
    downloads: list[float] = []
    stalls: list[float] = []
    overslept = buffer = 0.0
    for number in range(segments):
        if (pause := buffer + seconds - held) > 0:
            asleep = time.monotonic()
            time.sleep(pause)
            slept = time.monotonic() - asleep
            overslept = max(overslept, slept - pause)
            buffer -= slept
        asked = time.monotonic()
        server.request("GET", "/segment")
        server.getresponse().read()
        downloads.append(time.monotonic() - asked)
        if number and downloads[-1] > buffer:
            stalls.append(downloads[-1] - buffer)
        buffer = max(0.0, buffer - downloads[-1]) + seconds
    waited = float(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    return {"downloads": downloads, "stalls": stalls, "overslept": overslept, "waited": waited}


if __name__ == "__main__":
    print(json.dumps(play(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))))
