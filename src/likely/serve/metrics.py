"""Counts of what the service did, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counted in the event loop, so nothing needs a lock."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.batches = 0
        self.batched_requests = 0
        self.batched_rows = 0
        self.reloads: dict[str, int] = defaultdict(int)
        self.changes: dict[tuple[str, str], int] = defaultdict(int)
        self.journal_bytes: dict[str, int] = {}
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._times: dict[str, list[int]] = {}
        self._total: dict[str, float] = defaultdict(float)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request that was answered."""
        self._requests[method, route, status] += 1
        times = self._times.get(route)
        if times is None:
            times = self._times[route] = [0] * (len(SECONDS) + 1)
        times[bisect_left(SECONDS, seconds)] += 1
        self._total[route] += seconds

    def batch(self, requests: int, rows: int) -> None:
        """Rows that were judged together."""
        self.batches += 1
        self.batched_requests += requests
        self.batched_rows += rows

    @property
    def answered(self) -> int:
        """Requests that were answered."""
        return sum(self._requests.values())

    def text(self) -> str:
        """All of it, as Prometheus reads it."""
        lines = ["# TYPE likely_requests_total counter"]
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"likely_requests_total{{{labels}}} {count}")
        lines.append("# TYPE likely_request_seconds histogram")
        for route, times in sorted(self._times.items()):
            so_far = 0
            for bound, count in zip((*map(str, SECONDS), "+Inf"), times, strict=True):
                so_far += count
                lines.append(f'likely_request_seconds_bucket{{route="{route}",le="{bound}"}} {so_far}')
            lines.append(f'likely_request_seconds_sum{{route="{route}"}} {self._total[route]:.6f}')
            lines.append(f'likely_request_seconds_count{{route="{route}"}} {so_far}')
        lines += ["# TYPE likely_requests_in_flight gauge", f"likely_requests_in_flight {self.in_flight}"]
        for name, number in (
            ("batches", self.batches), ("batched_requests", self.batched_requests), ("batched_rows", self.batched_rows)
        ):  # fmt: skip
            lines += [f"# TYPE likely_{name}_total counter", f"likely_{name}_total {number}"]
        lines.append("# TYPE likely_reloads_total counter")
        lines += [f'likely_reloads_total{{result="{result}"}} {n}' for result, n in sorted(self.reloads.items())]
        lines.append("# TYPE likely_rows_changed_total counter")
        for (name, kind), n in sorted(self.changes.items()):
            lines.append(f'likely_rows_changed_total{{model="{escaped(name)}",kind="{kind}"}} {n}')
        lines.append("# TYPE likely_journal_bytes gauge")
        lines += [
            f'likely_journal_bytes{{model="{escaped(name)}"}} {n}' for name, n in sorted(self.journal_bytes.items())
        ]
        return "\n".join([*lines, ""])


def escaped(label: str) -> str:
    """The value of a label, as the format wants it."""
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
