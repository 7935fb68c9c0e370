"""The page with sliders: the surface against the engine, and the browser against the surface."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect, sync_playwright

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS / "interactive"))
pytest.importorskip("bokeh", reason="the page needs the extra docs")

from bokeh.embed import file_html  # noqa: E402
from bokeh.resources import INLINE  # noqa: E402
from page import fixed, made  # noqa: E402
from solve import BITS, SENDERS, solved  # noqa: E402
from surface import AXES, QUANTITIES, SCALED_BY, evaluate, load, logit, misses, read  # noqa: E402

LOOK = runpy.run_path(str(DOCS / "look.py"))


@pytest.fixture(scope="module")
def surface():
    return load()


@pytest.fixture(scope="module")
def tab(surface, tmp_path_factory):
    """The sliders and curves in a browser as wide as a phone, which reaches no network."""
    found = LOOK["installed"]()
    if found is None:
        pytest.skip(f"needs a browser: none of {', '.join(LOOK['BROWSERS'])} is installed")
    page = tmp_path_factory.mktemp("page") / "page.html"
    page.write_text(file_html(made(surface), INLINE, "sliders"), "utf-8")
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=found, args=["--no-sandbox"]) as browser,
    ):
        context = browser.new_context(viewport=LOOK["WINDOWS"]["phone"])
        asked = []
        tab = context.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(page.as_uri())
        expect(tab.get_by_role("status")).to_contain_text("P(any stall) is")
        yield tab
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("line", [20, 83, 150])
def test_the_nodes_are_what_the_engine_says(surface, line):
    node = read("nodes")[line]
    sender, p, r, rate = (node[name] for name in ("sender", "loss", "rtt_s", "rate_pps"))
    load_of = np.exp(AXES[2][line % len(AXES[2])])
    again = solved(sender, p, r, load_of, np.array(node["delays_s"]))
    there = [np.full(9, x) for x in (p, r, rate)]
    found, _ = evaluate(surface, np.full(9, list(SENDERS).index(sender)), *there, np.array(node["delays_s"]))
    for i, quantity in enumerate(QUANTITIES):
        np.testing.assert_allclose(node[quantity], again[quantity], rtol=1e-6, atol=1e-11)
        np.testing.assert_allclose(found[:, i], logit(np.array(again[quantity])), atol=1e-3)


def test_the_stated_errors_hold(surface):
    assert np.mean(misses(surface, slice(SCALED_BY, None)).max(axis=1) <= 1) >= 0.999


def test_the_browser_computes_what_python_does(surface, tab):
    random = np.random.default_rng(5)
    senders = random.integers(0, 2, 200)
    p, r, loads, delays = (np.exp(random.uniform(axis[0], axis[-1], 200)) for axis in AXES)
    rates = 0.9 / r / np.sqrt(p) / loads
    values, errors = evaluate(surface, senders, p, r, rates, delays)
    tables = {name: getattr(surface, name).ravel().tolist() for name in ("values", "errors", "throughputs")}
    script = (DOCS / "interactive" / "surface.js").read_text("utf-8")
    places = np.column_stack([senders, p, r, rates, delays]).tolist()
    found = np.array(
        tab.evaluate(
            f"([grid, places]) => {{ {script}; return places.map(one => evaluate(grid, ...one)); }}",
            [fixed() | tables, places],
        )
    )
    np.testing.assert_allclose(found[..., 0], values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[..., 1], errors, rtol=1e-9, atol=1e-9)


def test_keys_move_the_sliders_and_the_answer_follows(surface, tab):
    answer, handles = tab.get_by_role("status"), tab.locator(".noUi-handle")
    expect(handles).to_have_count(4)
    for i in range(4):
        before = answer.inner_text()
        handles.nth(i).focus()
        tab.keyboard.press("ArrowRight")
        expect(answer).not_to_have_text(before)
    shown = [float(handle.get_attribute("aria-valuenow")) for handle in handles.all()]
    loss, rtt, rate, delay = shown
    values, _ = evaluate(surface, *(np.array([x]) for x in (0, loss / 100, rtt / 1000, rate * 1000 / BITS, delay)))
    chance = 1 / (1 + np.exp(-values[0, 1]))
    stated = float(answer.inner_text().split("P(any stall) is ")[1].split("%")[0]) / 100
    assert stated == pytest.approx(chance, rel=0.05)


def test_the_page_is_no_wider_than_a_phone(tab):
    assert tab.evaluate("document.documentElement.scrollWidth") <= LOOK["WINDOWS"]["phone"]["width"]
