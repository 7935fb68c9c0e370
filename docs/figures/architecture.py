"""Draw which package imports which: ``python docs/figures/architecture.py``; with ``--check``, compare instead.

Layers are those of the import rules in pyproject.toml. An arrow that follows from others is left out. The arrows stand
as text in the file of the drawing, too: that is what is compared.
"""

import ast
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path as Line
from PIL import Image
from scipy.optimize import isotonic_regression

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tcpstream"
DRAWING = Path(__file__).with_suffix(".png")

BOX, GAP, HIGH = 1.5, 0.35, 0.46
"""Width of a box, distance from arrows that pass, height of a box; layers are 1 apart."""

Place = tuple[int, str]
"""A layer, and what stands there: a package, or an arrow that passes."""


def layers() -> list[list[str]]:
    """Return the packages from the command line down, those of a layer together."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    rows = next(rule for rule in rules if rule["type"] == "layers")["layers"]
    names = [[name.strip() for name in row.replace("|", ":").split(":")] for row in rows]
    return [[name for name in row if not name.startswith("_")] for row in names]


def imports(name: str) -> set[str]:
    """Return what a package, or file, imports anywhere: at the top, in a function, for types alone."""
    found = set()
    for file in [*PACKAGE.glob(f"{name}.py"), *(PACKAGE / name).rglob("*.py")]:
        inside = file.relative_to(PACKAGE).parts[:-1]
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = [*inside[: len(inside) + 1 - node.level], *(node.module or "").split(".")]
                found |= {next(filter(None, [*base, one.name])) for one in node.names}
    return found - {name}


def arrows() -> dict[str, list[str]]:
    """Return what each package imports, without what follows from other arrows."""
    names = [name for row in layers() for name in row]
    direct = {name: imports(name) & set(names) for name in names}
    below: dict[str, set[str]] = {}
    for name in reversed(names):
        below[name] = direct[name].union(*(below[other] for other in direct[name]))
    return {name: sorted(found - set().union(*(below[other] for other in found))) for name, found in direct.items()}


def text() -> str:
    """Return the drawing as text: for each package its layer and its arrows."""
    found = arrows()
    return "".join(f"{i} {name}: {' '.join(found[name])}\n" for i, row in enumerate(layers()) for name in row)


def ways() -> list[list[Place]]:
    """Return for each arrow where it passes, layer by layer."""
    layer = {name: i for i, row in enumerate(layers()) for name in row}
    return [
        [(layer[a], a), *((i, f"{a} {b}") for i in range(layer[a] + 1, layer[b])), (layer[b], b)]
        for a, others in arrows().items()
        for b in others
    ]


def placed(found: list[list[Place]]) -> dict[Place, float]:
    """Return where in its layer each place stands: near those that it has arrows from and to."""
    rows: list[list[Place]] = [[(i, name) for name in row] for i, row in enumerate(layers())]
    packages = {place for row in rows for place in row}
    for way in found:
        for place in way[1:-1]:
            rows[place[0]].append(place)
    near: dict[Place, list[Place]] = {place: [] for row in rows for place in row}
    for way in found:
        for upper, lower in pairwise(way):
            straight = 1 if {upper, lower} & packages else 4
            near[upper] += [lower] * straight
            near[lower] += [upper] * straight
    x = {place: BOX * k for row in rows for k, place in enumerate(row)}
    for sweep in range(2000):
        for row in rows:
            wanted = {one: float(np.mean([x[other] for other in near[one]] or [x[one]])) for one in row}
            if sweep < 100:
                row.sort(key=wanted.__getitem__)
            widths = [BOX / 2 if one in packages else 0.0 for one in row]
            apart = np.cumsum([0.0, *(a + b + GAP for a, b in pairwise(widths))])
            x |= dict(zip(row, isotonic_regression([wanted[one] for one in row] - apart).x + apart))
    return x


def draw() -> None:
    """Draw, and keep the text with the drawing."""
    found = ways()
    x, count = placed(found), len(layers())
    left, right = min(x.values()) - BOX, max(x.values()) + BOX
    figure, ax = plt.subplots(figsize=(9, 8), layout="constrained")
    for i, row in enumerate(layers()):
        ax.axhspan(-i - 0.5, -i + 0.5, color="0.96" if i % 2 else "white", zorder=0)
        for name in row:
            file = (PACKAGE / f"{name}.py").exists()
            corner = x[i, name] - BOX / 2, -i - HIGH / 2
            style = "square,pad=0" if file else "round,pad=0,rounding_size=0.12"
            box = FancyBboxPatch(corner, BOX, HIGH, style, facecolor="white" if file else "#dce9f5", edgecolor="0.3")
            ax.add_patch(box).set_zorder(3)
            ax.text(x[i, name], -i, f"{name}.py" if file else name, ha="center", va="center", zorder=4)
    for way in found:
        points, codes = [(x[way[0]], -way[0][0] - HIGH / 2)], [Line.MOVETO]
        for lower in way[1:]:
            begin = points[-1]
            end = x[lower], -lower[0] + (HIGH / 2 if lower == way[-1] else 0)
            middle = (begin[1] + end[1]) / 2
            points += [(begin[0], middle), (end[0], middle), end]
            codes += [Line.CURVE4] * 3
        ax.add_patch(PathPatch(Line(points, codes), facecolor="none", edgecolor="0.35", zorder=2))
        ax.plot(x[way[-1]], points[-1][1] + 0.04, marker=(3, 0, 180), color="0.35", markersize=7, zorder=2)
    ax.set(xlim=(left, right), ylim=(0.5 - count, 0.5))
    ax.axis("off")
    figure.savefig(DRAWING, dpi=150, metadata={"Software": None, "Imports": text()})


def check() -> bool:
    """Return whether the drawing has the arrows that there are."""
    with Image.open(DRAWING) as image:
        return image.info.get("Imports") == text()


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if check() else "the drawing has other arrows: python docs/figures/architecture.py")
    draw()
