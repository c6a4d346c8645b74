"""Options of the whole test run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--group-python",
        action="append",
        default=[],
        metavar="GROUP=PATH",
        help="test a group's adapters with this interpreter instead of the one in its managed environment",
    )
