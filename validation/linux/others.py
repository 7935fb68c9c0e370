"""T of the kernel where no chain is made for it: ``python validation/linux/others.py``."""

from __future__ import annotations

from records import LINUX, Record, estimated, kind, loss, recorded

from tcpstream import Path, throughput

CHAINS = {"reno": "reno-sack", "cubic": "cubic"}
"""With independent losses and a bottleneck."""

HARDLY = 1e-9
"""Loss rate of the chain for runs in which only the queue loses packets."""


def limited(record: Record) -> Path:
    """Return the path of a run behind a bottleneck, as it was set, with the timer that was measured.

    The round trip time is that of a packet that finds the queue empty, with its own transmission.
    """
    condition = record["condition"]
    rate = condition["rate"] * 1e6 / 8 / 1500
    rtt = condition["rtt"] + 2 * record["mean_lateness"] + 1 / rate
    given = {"loss": loss(record) or HARDLY, "rtt": rtt, "rto": max(record["rto"], rtt)}
    return Path(
        sender="classic", **given, bottleneck=rate, buffer=condition["queue"], tcp=CHAINS[condition["tcp"]], **LINUX
    )


def main() -> None:
    """Print the tables in Markdown."""
    files = [one for one in recorded() if kind(one) == "file"]
    print("| losses | sender | SACK | p | R [s] | T of the kernel | `reno` | `reno-sack` | `cubic` |")
    print("|---|---|---|---|---|---|---|---|---|")
    for record in files:
        condition = record["condition"]
        usual = (condition["losses"], condition["tcp"], condition["sack"])
        if condition["rate"] or usual in (
            ("round", "reno", True), ("bernoulli", "reno", True), ("bernoulli", "cubic", True)
        ):  # fmt: skip
            continue
        ratios = []
        for tcp in ("reno", "reno-sack", "cubic"):
            ratios.append(f"{throughput(estimated(record, tcp)) / record['throughput']:.2f}")
        sack = "on" if condition["sack"] else "off"
        print(
            f"| {condition['losses']} | {condition['tcp']} | {sack} | {condition['p']} | {condition['rtt']} "
            f"| {record['throughput']:.1f} | {' | '.join(ratios)} |"
        )
    print(
        "\n| sender | queue [packets] | p | T [packets/s] | share of the rate | R [s] | lost in the queue "
        "| its chain with `bottleneck`, over the kernel |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for record in files:
        condition = record["condition"]
        if not condition["rate"]:
            continue
        capacity = condition["rate"] * 1e6 / 8 / 1500
        ratio = f"{throughput(limited(record)) / record['throughput']:.2f}" if condition["tcp"] in CHAINS else ""
        print(
            f"| {condition['tcp']} | {condition['queue']} | {loss(record):.2g} "
            f"| {record['throughput']:.1f} | {record['throughput'] / capacity:.0%} | {record['rtt']:.3f} "
            f"| {record['dropped_by_queue'] / record['sent']:.2g} | {ratio} |"
        )


if __name__ == "__main__":
    main()
