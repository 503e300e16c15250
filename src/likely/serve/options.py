"""What whoever starts the service may say, and the limits that hold if nothing is said."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from likely.errors import SettingsError

SHORTEST_TOKEN = 16
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one request, and all of them together, may ask for."""

    body_bytes: int = 10_000_000
    rows: int = 1_000_000
    columns: int = 10_000
    cells: int = 20_000_000
    explained_cells: int = 200_000
    header_bytes: int = 32_768
    requests: int = 512
    connections: int = 1_024
    learners: int = 4_096
    classes: int = 10_000
    request_seconds: float = 15.0
    idle_seconds: float = 15.0
    shutdown_seconds: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """Where the service listens, whom it answers, whether it learns, and whether it may begin without a model."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    learn: bool = False
    compact_rows: int = 10_000
    watch_seconds: float = 1.0
    log_requests: bool = True
    may_be_empty: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise SettingsError(f"The token has {len(self.token)} characters; it needs {SHORTEST_TOKEN} or more.")
        if self.token is None and not is_loopback(self.host):
            raise SettingsError(
                f"{self.host!r} can be reached from other machines, so a token is needed: put it into a file and name "
                "that with --token-file, or into the variable LIKELY_TOKEN."
            )

    def allowed_hosts(self) -> frozenset[str]:
        """Names under which the service may be called; whoever calls it by another was led here by a trick."""
        own = LOOPBACK_NAMES if is_loopback(self.host) else LOOPBACK_NAMES | {self.host.lower()}
        return own | {host.lower() for host in self.hosts}


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
