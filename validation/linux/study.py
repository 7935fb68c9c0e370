"""Everything that the recorded runs say: ``python validation/linux/study.py FOLDER`` writes tables and plots there."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from pathlib import Path

import late
import others
import section_5
import throughputs
import truth

TABLES = {
    "throughput": throughputs.main,
    "late": late.main,
    "estimates": truth.main,
    "others": others.main,
    "section-5": section_5.main,
}


def main() -> int:
    """Write a file of tables in Markdown for each subject, and the plots."""
    if len(sys.argv) != 2:
        print("give the folder for tables and plots", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in TABLES.items():
        text = io.StringIO()
        with redirect_stdout(text):
            table()
        (folder / f"{name}.txt").write_text(text.getvalue(), encoding="utf-8")
        print(f"{folder / name}.txt", flush=True)
    section_5.draw(folder)
    late.draw(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
