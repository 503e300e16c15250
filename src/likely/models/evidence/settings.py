"""Types and ranges of the settings of the evidence classifier."""

from __future__ import annotations

from likely.models.settings import (
    COMMON,
    Check,
    are_tokenizers,
    is_positive,
    is_progress,
    is_random_state,
    optional,
    whole_from,
)

CHECKS: dict[str, Check] = {
    **COMMON,
    "max_pairs": optional(whole_from(0)),
    "max_triples": optional(whole_from(0)),
    "time_limit": optional(is_positive),
    "text": are_tokenizers,
    "progress": is_progress,
    "random_state": is_random_state,
}
