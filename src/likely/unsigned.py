"""Places in arrays as whole numbers without a sign, for compiled loops.

A signed index may count from the end, so every access by a sum or product of such numbers asks first whether it is
negative, and that question keeps the loop from being done four cells at a time. A sum of two of these is one of these;
a sum with a plain Python number is signed again, hence the names.
"""

from __future__ import annotations

from typing import Final

import numpy as np

Place = np.uintp

ZERO: Final = np.uintp(0)
ONE: Final = np.uintp(1)
TWO: Final = np.uintp(2)
THREE: Final = np.uintp(3)
FOUR: Final = np.uintp(4)
