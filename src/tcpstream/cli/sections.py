"""Commands whose ``--help`` lists options in sections: path, sender, video, question, output."""

from __future__ import annotations

from dataclasses import fields

import click

from ..path import Network
from ..sender import Sender

SECTIONS: dict[str, tuple[str, ...]] = {
    "Path": (
        *(one.name for one in fields(Network)), "throughput", "capture", "regimes", "loss_process", "gilbert_elliott",
        "loss_trace", "bandwidth", "queue", "capacity", "flows",
    ),
    "Sender": (
        "sender", *(one.name for one in fields(Sender)), "limited", "ack_every", "min_rto", "granularity",
        "no_slow_start", "pace", "burst",
    ),
    "Video": ("rate", "live", "is_live", "duration", "playback", "rung", "packet_size"),
    "Player": (
        "player", "start", "start_buffer", "resume_buffer", "segment", "client_buffer", "refill_at", "idle",
        "setup_round_trips", "on_stall",
    ),
    "Question": (
        "size", "segment_size", "paper", "delay", "horizon", "target", "target_no_late", "target_stall",
        "target_ratio", "per_round", "sessions", "interval", "columns", "group_by", "solves", "seed",
        "seconds", "runs", "every", "segments", "quick", "recorded", "accuracy", "time_limit",
    ),
    "Output": ("out", "csv", "format", "store", "save", "plots", "as_json"),
}  # fmt: skip
"""Sections in their order, and the parameters of commands that stand in each."""

ELSEWHERE = {
    "claims": {"runs": "Output"},
    "fit": {"regimes": "Question"},
    "transfer": {"start": "Question", "idle": "Question", "setup_round_trips": "Question"},
    "validate": {"runs": "Output"},
}
"""Parameters that a command has in another section, by the command's name."""

WIDEST = 30
"""Columns of an option beside which its text still begins on the same line."""


class Sectioned(click.Command):
    """A command whose help lists its options by `SECTIONS`."""

    def sections(self, context: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the options of each section that the command has, as click writes them, and their texts."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in SECTIONS}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context)
            if record is not None and isinstance(parameter, click.Option):
                found[self._section(parameter.name or "")].append(record)
        return {title: records for title, records in found.items() if records}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, with all texts in one column."""
        found = self.sections(ctx)
        widths = [len(name) for records in found.values() for name, _ in records]
        width = max(one for one in (0, *widths) if one <= WIDEST)
        for title, records in found.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in records], col_max=width)

    def _section(self, name: str) -> str:
        found = (title for title, names in SECTIONS.items() if name in names)
        return ELSEWHERE.get(self.name or "", {}).get(name) or next(found, "Output")  # --help, which click adds
