"""The system's browser, in which the page is tested."""

import shutil

import pytest

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
