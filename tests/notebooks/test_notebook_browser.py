"""The notebook with sliders, in a real JupyterLab in a real browser: a slider that moves moves the curve."""

import io
import os
import runpy
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import jupytext
import numpy as np
import pytest
from matplotlib.image import imread
from playwright.sync_api import expect, sync_playwright

import tcpstream

SOURCE = Path(__file__).resolve().parents[2] / "notebooks" / "04-explore.md"
LOOK = runpy.run_path(str(SOURCE.parents[1] / "docs" / "look.py"))
PATIENCE = 120
"""Longest wait for anything [s]: first imports and compilation on a busy machine."""


@pytest.fixture(scope="module")
def chromium():
    found = LOOK["installed"]()
    if found is None:
        pytest.skip(f"needs a browser: none of {', '.join(LOOK['BROWSERS'])} is installed")
    return found


@pytest.fixture
def lab(tmp_path):
    """Address of a JupyterLab whose folder holds the notebook, explore.ipynb."""
    (tmp_path / "work").mkdir()
    jupytext.write(jupytext.read(SOURCE), tmp_path / "work" / "explore.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", "--IdentityProvider.token=", "--ip=127.0.0.1", f"--port={port}",
               "--ServerApp.port_retries=0", f"--ServerApp.root_dir={tmp_path / 'work'}"]  # fmt: skip
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR",
           "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")  # fmt: skip
    env = os.environ | {name: str(tmp_path / name.lower()) for name in own}
    log = tmp_path / "jupyter.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            cwd=tmp_path,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            answers(f"http://127.0.0.1:{port}/api/status", server, log)
            yield f"http://127.0.0.1:{port}/lab/tree/explore.ipynb"
        finally:
            server.terminate()  # it ends its kernels, too
            server.wait(PATIENCE)


def answers(address, server, log):
    """Wait until the server does."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < end:
        try:
            with opener.open(address, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text('utf-8')}")


def curve(image):
    """Return where a picture has the colour of the curve, 0072B2."""
    data = image.evaluate("async image => Array.from(new Uint8Array(await (await fetch(image.src)).arrayBuffer()))")
    rgb = np.round(255 * imread(io.BytesIO(bytes(data)), format="png")[..., :3])
    return (rgb == (0x00, 0x72, 0xB2)).all(axis=-1)


def required_delay(kbps):
    path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=3)
    return tcpstream.live(path, tcpstream.Video(bitrate=1e3 * kbps)).required_delay(1e-4)


def test_a_slider_moves_the_curve(lab, chromium):
    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--no-proxy-server"])
        page = browser.new_page(viewport={"width": 1400, "height": 1600})
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(lab)
        expect(page.locator(".jp-NotebookPanel")).to_be_visible()
        expect(page.locator("#jp-main-statusbar")).to_contain_text("Idle")  # the kernel is there, menus stay open
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

        rate = page.locator(".widget-hslider", has_text="rate [kbit/s]")
        shown, handle = rate.locator(".widget-readout"), rate.locator(".noUi-handle")
        picture, answer = page.locator("img.widget-image"), page.locator(".widget-html-content").last
        expect(shown).to_have_text("360")
        expect(answer).to_contain_text(f"For at most 1e-4 wait {required_delay(360):.2f} s")
        before = curve(picture)
        assert before.any()

        handle.press("ArrowRight")
        expect(shown).to_have_text("380")
        expect(answer).to_contain_text(f"For at most 1e-4 wait {required_delay(380):.2f} s")
        after = curve(picture)
        assert after.any()
        assert (after != before).any()

        handle.press("End")
        expect(shown).to_have_text("1200")
        expect(answer).to_have_text("No startup delay is long enough.")
        assert not curve(picture).any()
        browser.close()
