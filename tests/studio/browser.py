"""Debian's Chromium for the tests of pages: found, or installed where that is possible."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-dev-shm-usage",
]  # fmt: skip


PATIENCE = 120_000
"""Milliseconds: a guard for busy machines, which nothing measures."""


class NotHere(Exception):
    """There is no browser, and none can be installed."""


def chromium() -> str:
    """The path of a browser; LIKELY_CHROMIUM names one that lies elsewhere."""
    found = os.environ.get("LIKELY_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    return found or _installed()


def _installed() -> str:
    """Install it by apt-get, one test process after the other; only as root, and only where that is there."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise NotHere("there is no Chromium here (apt-get install chromium), so pages are not looked at")
    with open(Path(tempfile.gettempdir(), "likely-chromium.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if shutil.which(NAMES[0]) is None:
            quiet = {"capture_output": True, "check": False, "timeout": 600}
            subprocess.run(["apt-get", "update", "-q"], **quiet)  # type: ignore[call-overload]
            subprocess.run(["apt-get", "install", "-qy", "--no-install-recommends", NAMES[0]], **quiet)  # type: ignore[call-overload]
    found = shutil.which(NAMES[0])
    if found is None:
        raise NotHere("Chromium could not be installed by apt-get, so pages are not looked at")
    return found


def until(tab: Any, expression: str, arg: Any = None) -> None:
    """Wait until an expression of JavaScript holds.

    Playwright's own `wait_for_function` asks again from inside the page, where our policy forbids `eval`: it works only
    if the expression holds at once. Here the question is put anew from outside.
    """
    end = time.monotonic() + PATIENCE / 1000
    while not tab.evaluate(expression, arg):
        assert time.monotonic() < end, f"never true: {expression}"
        tab.wait_for_timeout(20)
