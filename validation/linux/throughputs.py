"""T of the chains beside the kernel's: ``python validation/linux/throughputs.py``."""

from __future__ import annotations

from typing import Any

from records import LINUX, Record, chain, estimated, kind, loss, recorded, together

from tcpstream import Path, throughput

PRECISE = 0.03
"""Runs with a larger standard error of T, relative, are listed and not counted."""

CLOSE = {"reno": 0.05, "reno-sack": 0.05, "cubic": 0.10}
"""Relative differences that count as agreement."""


def ratios(record: Record, name: str) -> dict[str, float]:
    """Return T of the chain over the kernel's, the path being known, and as the capture shows it."""
    condition = record["condition"]
    rtt = condition["rtt"] + 2 * record["mean_lateness"]
    known = {"loss": loss(record), "rtt": rtt, "rto": max(record["rto"], rtt), "tcp": name}
    paths = {
        "plain": Path(sender="classic", **known),
        "Linux": Path(sender="classic", **known, **LINUX),
        "estimate": estimated(record, name),
    }
    return {given: throughput(path) / record["throughput"] for given, path in paths.items()}


def rows() -> list[dict[str, Any]]:
    """Return a row for every condition of backlogged runs with a chain."""
    found = []
    for record in together([one for one in recorded() if kind(one) == "file" and chain(one)]):
        name = chain(record)
        assert name is not None
        condition, T = record["condition"], record["throughput"]
        error = record["throughput_error"] / T
        found.append(
            {"chain": name, "p": condition["p"], "rtt": condition["rtt"], "T": T, "error": error} | ratios(record, name)
        )
    return sorted(found, key=lambda row: (row["chain"], row["p"], row["rtt"]))


def main() -> None:
    """Print the tables in Markdown."""
    table = rows()
    print("| chain | conditions | plain | with RACK-TLP and slow start | the same, fed by `estimate` |")
    print("|---|---|---|---|---|")
    for name, close in CLOSE.items():
        counted = [row for row in table if row["chain"] == name and row["error"] <= PRECISE]
        shares = [
            f"{sum(abs(row[given] - 1) <= close for row in counted)} within {close:.0%}"
            for given in ("plain", "Linux", "estimate")
        ]
        print(f"| `{name}` | {len(counted)} | {' | '.join(shares)} |")
    print("\n| chain | p | R [s] | T of the kernel [packets/s] | plain | Linux | fed by `estimate` |")
    print("|---|---|---|---|---|---|---|")
    for row in table:
        note = "" if row["error"] <= PRECISE else " (not counted)"
        print(
            f"| `{row['chain']}` | {row['p']} | {row['rtt']} | {row['T']:.1f} ± {row['error']:.1%}{note} "
            f"| {row['plain']:.3f} | {row['Linux']:.3f} | {row['estimate']:.3f} |"
        )


if __name__ == "__main__":
    main()
