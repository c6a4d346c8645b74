"""A browser for the tests of the page."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.bench_report.browser import find_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = find_browser()
    with sync_playwright() as playwright:
        # Chromium's own sandbox does not work as root, which is what a container runs as; the page is ours.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        launched = playwright.chromium.launch(executable_path=path, args=arguments)
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()
