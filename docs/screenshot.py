"""Take the picture of the service's page: docs/figures/page.png.

    candgen demo --no-serve -o faroese.candgen
    candgen serve faroese.candgen --port 8000
    python docs/screenshot.py http://127.0.0.1:8000/     # in another terminal

Needs Playwright, Pillow and a Chromium.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

NAME = "Serbia dinar"
"""A name that the demo hides: the index has to find it by its Danish and Norwegian spellings."""
CANDIDATES = 3
COLOURS = 256
"""Enough for the page; the file is then less than half as large."""
PICTURE = Path(__file__).parent / "figures" / "page.png"


def take(address: str) -> bytes:
    """Ask for the name and return the picture of its candidates, as PNG."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(
            viewport={"width": 1000, "height": 838},
            device_scale_factor=1.5,
            color_scheme="light",
            locale="en",
        )
        page.goto(address)
        page.fill("#k", str(CANDIDATES))
        page.fill("#mention", NAME)
        page.wait_for_function(
            "n => document.querySelectorAll('#candidates > li').length === n", arg=CANDIDATES
        )
        page.wait_for_timeout(1000)  # the first candidate opens its explanation
        first = page.locator("#candidates li button").first
        if first.get_attribute("aria-expanded") == "true":
            first.click()
        page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        page.mouse.move(5, 5)
        page.wait_for_timeout(300)
        picture = page.screenshot()
        browser.close()
    return picture


if __name__ == "__main__":
    image = Image.open(io.BytesIO(take(sys.argv[1]))).convert("RGB")
    small = image.quantize(COLOURS, kmeans=3, dither=Image.Dither.NONE)
    small.save(PICTURE, optimize=True)
