"""Types of arrays, said once for the whole package."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
Index = NDArray[np.intp]
Flags = NDArray[np.bool_]
UInt64 = NDArray[np.uint64]
UInt16 = NDArray[np.uint16]
Float32 = NDArray[np.float32]
