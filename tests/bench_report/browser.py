"""The system's browser, in which the page is tested, and a page that is watched."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str:
    """Its path. Without one the tests fail and are not skipped: a page that nobody opened is not tested."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail(
            f"no browser: none of {', '.join(BROWSERS)} is installed. Install Chromium "
            "(Debian and Ubuntu: apt-get install -y chromium); as root, make test does so",
            pytrace=False,
        )
    return found


class Watched:
    """A page that notes what it complains about and what it asks the network for."""

    def __init__(self, context: BrowserContext, path: Path) -> None:
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.own = path.as_uri()

    def check(self) -> None:
        assert self.complaints == []
        assert [url for url in self.requests if url != self.own and not url.startswith("data:")] == []
