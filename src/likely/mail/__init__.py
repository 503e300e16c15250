"""Mail as rows: messages from maildir, mbox or standard input, judged and learned by a classifier of texts."""

from __future__ import annotations
