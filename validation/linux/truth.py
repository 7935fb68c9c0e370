"""What `tcpstream estimate` finds in captures whose path is known: ``python validation/linux/truth.py``.

Each segment of 150 s of a capture is an estimate of its own. The truth is p as the path drew it, T of the whole run,
and the kernel's own smoothed round trip time and timer, averaged over the run. The mean round trip is also
judged by that of the whole capture, averaged in the same way, where it has five segments and more.
"""

from __future__ import annotations

from collections import defaultdict

from records import Record, chain, kind, loss, recorded

SHORTEST = 100.0
"""Segments that are shorter [s] do not count."""

LONG = 5
"""Segments of a capture whose mean round trip is taken for the truth."""

PROCESSES = {"round": "round", "bernoulli": "independent"}
"""What `estimate` calls the loss processes."""


def truths(record: Record) -> dict[str, float]:
    """Return the truth of a run, by the name of its estimate."""
    found = {"rtt_s": record["rtt"], "rto_s": record.get("rto_mean", record["rto"])}
    found["loss_event_rate"] = loss(record)
    if record["condition"]["losses"] == "bernoulli":
        found["loss"] = record["lost"] / record["sent"]
    if kind(record) == "file":
        found["throughput_pps"] = record["throughput"]
    return found


def runs() -> None:
    """Print how many runs there are, and what was left out of them."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    longer = []
    for record in recorded():
        by_kind[kind(record)].append(record["left_out"])
        if kind(record) == "file" and chain(record):
            longer.append(record["estimate"]["rtt_s"] / (record["condition"]["rtt"] + 2 * record["mean_lateness"]))
    print("| run | number | left out in and after stalls |\n|---|---|---|")
    for name, left_out in by_kind.items():
        print(f"| {name} | {len(left_out)} | {sum(left_out) / len(left_out):.1%} |")
    print(f"\nMean round trip of the captures over the path's: {min(longer):.3f} to {max(longer):.3f}\n")


def main() -> None:
    """Print the tables in Markdown."""
    runs()
    inside: dict[str, list[bool]] = defaultdict(list)
    off: dict[str, list[float]] = defaultdict(list)
    process: dict[tuple[str, str], int] = defaultdict(int)
    for record in recorded():
        condition = record["condition"]
        if condition["losses"] not in PROCESSES or condition["rate"] or kind(record) not in ("file", "live"):
            continue
        true = truths(record)
        for segment in record["segments"]:
            if "loss" not in segment or segment["end"] - segment["start"] < SHORTEST:
                continue
            known = [(name, name, value) for name, value in true.items()]
            if len(record["segments"]) >= LONG:
                known.append(("rtt_s, by that of the whole capture", "rtt_s", record["estimate"]["rtt_s"]))
            for title, name, value in known:
                estimate, low, high = segment[name]
                inside[title].append(low <= value <= high)
                off[title].append(abs(estimate / value - 1))
            process[condition["losses"], segment["loss_process"]["fits"]] += 1
    print("| estimate | segments | truth inside the 95% interval | median distance |")
    print("|---|---|---|---|")
    for title, hits in inside.items():
        distance = sorted(off[title])[len(off[title]) // 2]
        print(f"| {title} | {len(hits)} | {sum(hits) / len(hits):.1%} | {distance:.1%} |")
    print("\n| losses | found | segments |\n|---|---|---|")
    for (losses, fits), number in sorted(process.items()):
        print(f"| {losses} | {fits} | {number} |")


if __name__ == "__main__":
    main()
