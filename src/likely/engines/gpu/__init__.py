"""Rows that lie on a GPU: counted and scored there, so that no row comes to the host beyond a bounded sample.

`device.py` starts kernels (`kernels.cu`) on the arrays of a GPU; `table.py` reads arrays as columns and
labels as codes; `counts.py` has one function for each statistic, `rows.py` makes a summary of them; `scores.py` adds up
what families say of such rows. Nothing of CUDA is imported before the first array of a GPU is met.
"""

from __future__ import annotations

from likely.arrays import is_on_device

__all__ = ["is_on_device"]
