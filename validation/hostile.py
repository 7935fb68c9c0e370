"""What `fuzz_inputs.py` asks: command lines, and the files that they name.

Each function takes a seeded generator and an empty folder to work in, and returns a command line.
"""

from __future__ import annotations

import random
from pathlib import Path as FilePath

EXAMPLES = FilePath(__file__).parents[1] / "examples"

ESCAPE = "\x1b[31mred\x07"

WORDS = (
    *("", " ", "0", "-0", "-1", "1", "2", "3", "0.5", "1.0000000001", "1e-300", "1e300", "5e-324", "1e400", "nan"),
    *("inf", "-inf", "0x10", "1_000", "１", "²", "1,2", ",", "1;2", "1e5", "1e-5", "9" * 400, "2%", "%s", "{}", "[]"),
    *("\udcff", "é", ESCAPE, "a\nb", "-", "--", "none", "true", "reno", "cubic", "paper", "10" * 40, "1e18", "2**3"),
)
UNITS = ("", "s", "ms", "min", "h", "pps", "bps", "kbps", "Mbps", "Gbps", "MBps", "Mbit/s", " ms", "parsecs", "S")
PATH = {
    "--loss": ("0.02", "0.05", "0.2", "2%"),
    "--rtt": ("100ms", "0.1", "50ms", "1s"),
    "--rto": ("300ms", "1s", "0.4"),
    "--timeout-ratio": ("2", "3.5"),
    "--max-window": ("8", "12", "20", "1"),
    "--rounds-per-increase": ("1", "2"),
    "--backoff": ("rfc6298", "paper"),
    "--halving": ("floor", "ceil"),
    "--tcp": ("reno", "reno-sack", "cubic"),
    "--initial-window": ("1", "4", "10"),
    "--detection": ("duplicates", "rack"),
    "--sender": ("classic", "linux"),
    "--losses": ("independent", "bursts"),
    "--bottleneck": ("100pps", "1Mbps"),
    "--buffer": ("5", "0"),
    "--capture": (str(EXAMPLES / "requests.csv"), "none.pcap"),
    "--throughput": ("20pps", "300kbps"),
    "--packet-size": ("1500", "1"),
}
VIDEO = {
    "--rate": ("10pps", "25pps", "120kbps"),
    "--duration": ("5s", "10s", "20"),
    "--delay": ("1", "1,2", "500ms"),
    "--playback": (str(EXAMPLES / "requests.csv"), "none.csv"),
    "--target": ("1e-3", "0.01"),
    "--target-no-late": ("0.9", "0.5"),
    "--horizon": ("end", "paper"),
    "--live": (),
    "--per-round": (),
    "--application-limited": (),
}
SIMULATED = {
    "--rtt": ("100ms", "0.1"),
    "--loss": ("0.02", "0.5", "1", "0"),
    "--loss-process": ("bernoulli", "round"),
    "--gilbert-elliott": ("0.01,0.5,0.9", "0,1,0", "1,1,1,1"),
    "--loss-trace": (str(EXAMPLES / "requests.csv"), "none"),
    "--bandwidth": ("1Mbps", "50pps"),
    "--queue": ("5", "100"),
    "--capacity": (str(EXAMPLES / "cell.trace"), "none"),
    "--tcp": ("reno", "newreno", "sack", "rack"),
    "--max-window": ("8", "64", "1"),
    "--initial-window": ("2", "10"),
    "--ack-every": ("1", "2"),
    "--min-rto": ("200ms", "0"),
    "--granularity": ("10ms", "0"),
    "--no-slow-start": (),
    "--packet-size": ("1500", "100"),
    "--rate": ("10pps", "25pps"),
    "--live": (),
    "--duration": ("5s", "3"),
    "--delay": ("1", "0.5,2"),
    "--seconds": ("5s", "20"),
    "--runs": ("1", "2"),
    "--seed": ("1", "7"),
    "--csv": ("out.csv", "no/out.csv", "/dev/full", "."),
    "--save": ("out.npz", "no/out.npz", "/dev/full", "."),
}
NEEDED = {
    "throughput": ("--loss", "--rtt", "--rto"),
    "stored": ("--loss", "--rtt", "--rto", "--max-window", "--rate", "--duration", "--delay"),
    "live": ("--loss", "--rtt", "--rto", "--max-window", "--rate", "--delay"),
    "delay": ("--loss", "--rtt", "--rto", "--max-window", "--rate", "--live"),
    "rate": ("--loss", "--rtt", "--rto", "--max-window", "--live", "--delay"),
    "simulate": ("--rtt", "--rate", "--live", "--seconds", "--runs"),
}
OTHERS: tuple[list[str], ...] = (
    ["figure", "8a", "--out", "file"],
    ["figure", ESCAPE],
    ["figure", "8b", "--format", "gif"],
    ["validate", "--recorded"],
    ["validate", "--quick", "--runs", "file"],
    ["validate", "--recorded", "--save", "no/x"],
    ["validate", "--recorded", "--save", "/dev/full"],
    ["estimate", "file"],
    ["estimate", "."],
    ["estimate", "none"],
    ["estimate", "/dev/null", "--all"],
    ["sweep", "."],
    ["sweep", "/dev/zero"],
    ["sweep", "file", "--out", "x.xls"],
    ["simulate", "/dev/zero"],
    ["simulate", "file", "--runs", "1"],
    ["--version"],
    ["--help"],
    [],
)


def word(rng: random.Random) -> str:
    """Return an argument that seldom is one."""
    text = rng.choice(WORDS)
    return text + rng.choice(UNITS) if rng.random() < 0.5 else text


def command(rng: random.Random, folder: FilePath) -> list[str]:
    """Return a command line: a good one, with a few options changed, left out, added or repeated."""
    (folder / "file").write_bytes(rng.randbytes(rng.randrange(200)))
    if rng.random() < 0.12:
        line = list(rng.choice(OTHERS))
        if line and rng.random() < 0.3:
            line.insert(rng.randrange(len(line) + 1), word(rng))
        return line
    name = rng.choice(list(NEEDED))
    options = SIMULATED if name == "simulate" else PATH | VIDEO
    chosen = [*NEEDED[name], *rng.sample(list(options), rng.choice((0, 0, 0, 1, 1, 2, 4)))]
    if rng.random() < 0.15:
        chosen.remove(rng.choice(chosen))
    wrong = rng.choices((0, 1, 2), (0.4, 0.4, 0.2))[0]
    spoilt = set(rng.sample(range(len(chosen)), min(wrong, len(chosen))))
    line = [name]
    for i, option in enumerate(dict.fromkeys(chosen) if rng.random() < 0.95 else chosen):
        values = options.get(option, ("1",))
        line += [option] if not values else [option, word(rng) if i in spoilt else rng.choice(values)]
    if rng.random() < 0.05:
        line.insert(rng.randrange(len(line) + 1), word(rng))
    return line + ["--json"] * (rng.random() < 0.4)


VALUES = (
    *(
        "true",
        "false",
        "nan",
        "inf",
        "-inf",
        "0",
        "-1",
        "0.5",
        "1",
        "3",
        "1e-300",
        "1e300",
        "1e400",
        "9223372036854775808",
    ),
    *("-9223372036854775809", "99999999999999999999999", "9" * 5000, "0x" + "f" * 5000, "[]", "[[]]", "{}", "[1, [2]]"),
    *('["a", 1]', "[1979-05-27]", "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", '"1979"', '""', '"100 parsecs"'),
    *(
        '"\\u001b[31m"',
        '"a\\u0000b"',
        '"' + "x" * 3000 + '"',
        "{ a = 1 }",
        "{ a.b.c = [1] }",
        "[{}]",
        "[1, 2]",
        '"50ms"',
    ),
    *(
        "{ from = 1, to = 2, number = 1e9 }",
        "{ from = 1, to = 2, number = 3 }",
        "{ from = -1e308, to = 1e308, number = 4 }",
    ),
    *("{ from = 1e-300, to = 1e300, number = 3, scale = 'log' }", "[1.5, 1.5]"),
    *("{ from = nan, to = 1, number = 3 }",),
    *("{ from = 1, to = 2, number = 1000000000000000000000 }", "[" * 2000 + "]" * 2000, "é", '"é"'),
)
KEYS = ("x", "kind", "delay", "loss.a.b", '"\\u001b[31m"', "é")

STORED = """
kind = "stored"
[grid]
sender = "classic"
loss = [0.05, 0.1]
rtt = "100ms"
timeout_ratio = 2
max_window = 8
packet_rate = "10pps"
duration = 5
delay = [1, "2000ms"]
"""
LIVE = """
kind = "live"
[[points]]
sender = "classic"
loss = 0.05
rtt = 0.1
rto = "200ms"
max_window = 8
bitrate = "120kbps"
tcp = "reno"
delay = 1
[[points]]
sender = "classic"
loss = 0.1
rtt = 0.1
timeout_ratio = 2
max_window = 8
T_over_mu = 1.5
delay = 2
"""
NETWORK = """
seconds = 5
runs = 1
seed = 3
[video]
packet_rate = 25
live = true
delays = [1, 2.5]
[links.down]
delay = 0.1
rate = 1e6
queue = 20
loss = { process = "gilbert-elliott", to_bad = 0.01, to_good = 0.5 }
bucket = { rate = 5e5, depth = 3000 }
changes = [{ at = 2, rate = 2e6 }]
[links.up]
delay = 0.1
capacity = "cell.trace"
[[flows]]
there = ["down"]
back = ["up"]
measured = true
start = 1
tcp = { variant = "sack", slow_start = false }
[[flows]]
there = ["down"]
back = ["up"]
source = { kind = "requests", file = "requests.csv" }
[[flows]]
there = ["down"]
tcp = false
packet_size = 500
source = { kind = "steady", packet_rate = 10 }
"""
DUMBBELL = """
runs = 1
seed = 9
seconds = 10
[video]
bitrate = 240e3
duration = 4
delays = [1]
[dumbbell]
rate = 3.7e6
delay = 0.02
queue = 50
transfers = 2
web = 1
think = 10
round_trip = 0.1
datagrams = 1e5
loss = { process = "round", p = 0.01 }
tcp = { packet_size = 1000, initial_rto = 1.0, timer = "rfc6298" }
"""


def toml(rng: random.Random, folder: FilePath) -> list[str]:
    """Return a command line with a TOML file that has something wrong, most often."""
    swept = rng.random() < 0.5
    text = rng.choice((STORED, LIVE) if swept else (NETWORK, DUMBBELL))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        text = _changed(rng, text)
    data = text.encode("utf-8", "surrogatepass")
    special = rng.randrange(20)
    if special == 0:
        data = rng.choice(
            (b"", b"\xff\xfe\x00", rng.randbytes(300), b"a." * 3000 + b"b = 1", b"[a]\n" * 3, b"\xef\xbb\xbf" + data)
        )
    elif special == 1:
        data = mangled(rng, data)
    for name in ("cell.trace", "requests.csv"):
        other = (EXAMPLES / name).read_bytes()
        (folder / name).write_bytes(mangled(rng, other) if rng.random() < 0.15 else other)
    (folder / "case.toml").write_bytes(data)
    line = ["sweep" if swept else "simulate", "case.toml"]
    if swept and rng.random() < 0.3:
        line += ["--out", rng.choice(("out.csv", "out.parquet", "out.nc", "/dev/full.csv", ESCAPE + ".csv"))]
    return line + ["--json"] * (rng.random() < 0.3)


def _changed(rng: random.Random, text: str) -> str:
    """Return a text in TOML with a line changed, repeated, removed or renamed."""
    lines = text.splitlines()
    at = rng.randrange(len(lines))
    key, equals, value = lines[at].partition(" = ")
    action = rng.randrange(10)
    if equals and action < 7:
        lines[at] = f"{key} = {rng.choice(VALUES)}"
    elif action == 7:
        lines.insert(rng.randrange(len(lines)), lines[at])
    elif action == 8:
        del lines[at]
    elif equals:
        lines[at] = f"{rng.choice(KEYS)} = {value}"
    return "\n".join(lines) + "\n"


def mangled(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with some flipped, overwritten, removed, repeated or cut off."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 10))):
        at = rng.randrange(len(found)) if found else 0
        action = rng.randrange(6)
        if not found:
            break
        if action == 0:
            found[at] ^= 1 << rng.randrange(8)
        elif action == 1:
            found[at : at + 4] = rng.choice((bytes(4), b"\xff" * 4, b"\x7f\xff\xff\xff", rng.randbytes(4)))
        elif action == 2:
            del found[at : at + rng.randrange(1, 50)]
        elif action == 3:
            found[at:at] = found[at : at + rng.randrange(1, 200)]
        elif action == 4:
            del found[at:]
        else:
            found[at] = rng.randrange(256)
    return bytes(found)


NUMBERS = (
    "-1",
    "0",
    "1e308",
    "1e400",
    "-1e308",
    "18446744073709551616",
    "9" * 400,
    "1e-320",
    "NaN",
    "Infinity",
    "null",
)


def report(rng: random.Random, folder: FilePath) -> list[str]:
    """Return a command line with a report of ss or iperf3 in which numbers are absurd, or bytes are mangled."""
    name = rng.choice(("linux-reno-ss.txt", "linux-reno-iperf3.json"))
    data = (EXAMPLES / name).read_bytes()[: rng.choice((2500, 20_000, 10**9))]
    for _ in range(rng.choice((0, 1, 1, 3, 20))):
        data = _absurd(rng, data)
    if rng.random() < 0.3:
        data = mangled(rng, data)
    (folder / "report").write_bytes(data)
    return ["estimate", "report"] + ["--json"] * (rng.random() < 0.4)


def _absurd(rng: random.Random, data: bytes) -> bytes:
    """Return a text with one of its numbers, or of its words, replaced by what cannot be."""
    text = data.decode("utf-8", "replace")
    digits = [i for i, c in enumerate(text) if c.isdigit() and (i == 0 or not text[i - 1].isdigit())]
    if not digits:
        return data
    start = end = rng.choice(digits)
    while end < len(text) and (text[end].isdigit() or text[end] == "."):
        end += 1
    new = rng.choice(NUMBERS) if rng.random() < 0.8 else rng.choice(('"a"', "[]", "{}", "true", ESCAPE, "١"))
    return (text[:start] + new + text[end:]).encode("utf-8", "replace")
