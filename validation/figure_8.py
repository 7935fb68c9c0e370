"""Record what the runs of Section 4 saw for Figures 8a and 8b: ``python validation/figure_8.py``.

Reads every run from ``validation/results/section_4_runs.jsonl.gz``, writes ``src/tcpstream/paper/figure_8.json``.
"""

import gzip
import json
from pathlib import Path

from tcpstream.paper.record import FIGURE_8
from tcpstream.paper.study_figures import over_length, over_rounds

HERE = Path(__file__).parent


def main() -> None:
    """Summarise the runs, a column a line."""
    with gzip.open(HERE / "results" / "section_4_runs.jsonl.gz", "rt", encoding="utf-8") as lines:
        runs = [json.loads(line) for line in lines]
    seen = {"8a": over_length(runs), "8b": over_rounds(runs)}
    panels = [
        f"{json.dumps(panel)}: {{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in one.items()) + "\n}"
        for panel, one in seen.items()
    ]
    file = HERE.parent / "src" / "tcpstream" / "paper" / FIGURE_8
    file.write_text("{\n" + ",\n".join(panels) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
