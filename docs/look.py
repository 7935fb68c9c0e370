"""Every page of the built site in a browser: ``python docs/look.py [FOLDER]`` after ``make docs``.

At the width of a desk and of a phone no page may be wider than the window, every image is there, and every formula is
one that the browser draws. With a folder pictures of what was seen are kept there, light and dark.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

SITE = Path(__file__).parents[1] / "build" / "site"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WINDOWS = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 900}}

FAULTS = """() => {
  const root = document.documentElement, faults = [];
  if (root.scrollWidth > root.clientWidth) faults.push(`${root.scrollWidth} pixels wide`);
  for (const image of document.images)
    if (image.loading !== "lazy" && !image.naturalWidth) faults.push(`no image ${image.getAttribute("src")}`);
  for (const formula of document.querySelectorAll("math"))
    if (!formula.getBoundingClientRect().width) faults.push(`no formula ${formula.textContent.slice(0, 40)}`);
  return faults;
}"""


def installed() -> str | None:
    """Return the path of a browser, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def moved(page: Path) -> bool:
    """Tell whether a page only leads to another one."""
    return 'http-equiv="refresh"' in page.read_text(encoding="utf-8")


def look(browser: Browser, scheme: str, pages: list[Path], keep: Path | None) -> list[str]:
    """Return what is wrong with the pages, each loaded once, in the first window, and seen in all: they grow wider."""
    faults = []
    with browser.new_context(color_scheme=scheme) as context:
        tab = context.new_page()
        for page in pages:
            name = page.relative_to(SITE).as_posix()
            for number, (window, size) in enumerate(WINDOWS.items()):
                tab.set_viewport_size(size)
                if number == 0:
                    tab.goto(page.as_uri())
                faults += [f"{name}, {window}, {scheme}: {fault}" for fault in tab.evaluate(FAULTS)]
                if keep:
                    tab.screenshot(path=keep / f"{name.replace('/', '_')}-{window}-{scheme}.png", full_page=True)
    return faults


def main() -> int:
    """Look at all pages; return 1 if one has a fault."""
    found = installed()
    if found is None:
        print("not looked at: no browser")
        return 0
    keep = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    pages = sorted(page for page in SITE.rglob("*.html") if "_modules" not in page.parts and not moved(page))
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=found, args=["--no-sandbox"]) as browser,
    ):
        faults = [
            fault
            for scheme in (("light", "dark") if keep else ("light",))
            for fault in look(browser, scheme, pages, keep)
        ]
    print("\n".join(faults) or f"{len(pages)} pages are as wide as the window, with all images and formulas")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
