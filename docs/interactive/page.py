"""The directive ``interactive``: sliders and curves of the surface, with all that they need in the page."""

import sys
from pathlib import Path

from bokeh.document import Document
from bokeh.embed import components
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, CustomJS, CustomJSTickFormatter, Div, Select, Slider, Span
from bokeh.plotting import figure
from bokeh.resources import Resources
from docutils import nodes
from docutils.parsers.rst import Directive

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import numpy as np  # noqa: E402
from solve import BITS, DELAYS, LOADS, LOSSES, ROUND_TRIPS, SENDERS  # noqa: E402
from surface import CEILING, FINE, FINE_STEP, FLOORS, ORIGIN, STEP, load  # noqa: E402

DARK = ".bk-input { color: #222; }"
"""Text of the menu, whose background is white in dark mode, too."""

GREY, LATE, STALL = "#7b7b7b", "#3182bd", "#e6761f"


class Interactive(Directive):
    """Put the sliders and the curves here."""

    def run(self):
        """Return them as HTML."""
        script, div = components(made(load()))
        inline = Resources(mode="inline", components=["bokeh", "bokeh-widgets"])
        return [nodes.raw("", f'{inline.render()}\n<div class="interactive">{div}</div>\n{script}', format="html")]


def fixed():
    """Return what the browser has to know beside the tables."""
    return {
        "senders": list(SENDERS),
        "shape": [len(axis) for axis in (LOSSES, ROUND_TRIPS, LOADS, DELAYS)],
        "throughputShape": [len(axis) for axis in FINE],
        "origin": ORIGIN.tolist(),
        "step": STEP.tolist(),
        "fine": FINE_STEP.tolist(),
        "loads": [LOADS[0], LOADS[-1]],
        "floors": FLOORS.tolist(),
        "ceiling": CEILING,
        "bits": BITS,
    }


def made(surface):
    """Return the sliders, the answer and the figure."""
    wide = {"sizing_mode": "stretch_width"}
    senders = Select(title="Sender", options=list(SENDERS), value="classic", name="sender", stylesheets=[DARK], **wide)
    loss = Slider(title="Loss rate p [%]", start=1.8, end=5, step=0.1, value=2, name="loss", **wide)
    rtt = Slider(title="Round trip time R [ms]", start=100, end=200, step=5, value=100, name="rtt", **wide)
    rate = Slider(title="Rate of the video [kbit/s]", start=100, end=2000, step=5, value=480, name="rate", **wide)
    delay = Slider(title="Start-up delay [s]", start=1, end=16, step=0.5, value=4, name="delay", **wide)
    answer = Div(name="answer", styles={"font-size": "1rem", "line-height": "1.5", "color": "inherit"}, **wide)

    at = np.linspace(DELAYS[0], DELAYS[-1], 121)
    names = ("late", "late_low", "late_high", "stall", "stall_low", "stall_high")
    curve = ColumnDataSource({"delay": at, **{name: np.full(len(at), np.nan) for name in names}})
    plot, now = drawn(curve, delay.value)

    tables = {
        name: ColumnDataSource({"table": getattr(surface, name).ravel()})
        for name in ("values", "errors", "throughputs")
    }
    code = (HERE / "surface.js").read_text("utf-8") + (HERE / "update.js").read_text("utf-8")
    controls = {"senders": senders, "loss": loss, "rtt": rtt, "rate": rate, "delay": delay}
    update = CustomJS(
        args={**tables, **controls, "fixed": fixed(), "curve": curve, "now": now, "answer": answer}, code=code
    )
    for control in controls.values():
        control.js_on_change("value", update)
    page = column(senders, loss, rtt, rate, delay, answer, plot, **wide)
    document = Document()
    document.add_root(page)
    document.js_on_event("document_ready", update)
    return page


def drawn(curve, delay):
    """Return the figure of both curves with their errors, and the line at the present start-up delay."""
    plot = figure(
        height=380, sizing_mode="stretch_width", y_axis_type="log", x_range=(0, 16.5), y_range=(1e-6, 1.5),
        x_axis_label="start-up delay [s]", y_axis_label="probability, fraction", toolbar_location=None, tools="",
        background_fill_color=None, border_fill_color=None, outline_line_color=GREY, min_width=200,
    )  # fmt: skip
    for name, label, colour, dash in (
        ("stall", "P(any stall)", STALL, "solid"),
        ("late", "late fraction f", LATE, "dashed"),
    ):
        plot.varea("delay", f"{name}_low", f"{name}_high", source=curve, fill_color=colour, fill_alpha=0.25)
        plot.line("delay", name, source=curve, color=colour, line_width=2.5, line_dash=dash, legend_label=label)
    now = Span(location=delay, dimension="height", line_color=GREY, line_dash="dotted", line_width=2)
    plot.add_layout(now)
    for axis in plot.axis:
        axis.update(
            axis_label_text_color=GREY,
            major_label_text_color=GREY,
            axis_line_color=GREY,
            axis_label_text_font_style="normal",
            major_tick_line_color=GREY,
            minor_tick_line_color=GREY,
            major_label_text_font_size="13px",
            axis_label_text_font_size="14px",
        )
    plot.yaxis.formatter = CustomJSTickFormatter(code="return tick >= 0.01 ? `${tick}` : tick.toExponential(0)")
    plot.grid.grid_line_color, plot.grid.grid_line_alpha = GREY, 0.25
    plot.legend.update(
        location="top_right", background_fill_alpha=0, border_line_alpha=0, label_text_color=GREY,
    )  # fmt: skip
    return plot, now


def setup(app):
    """Make the directive known."""
    app.add_directive("interactive", Interactive)
    return {"parallel_read_safe": True}
