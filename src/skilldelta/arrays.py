"""Arrays by what they hold; their shapes stand beside the fields that have them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
"""Where there are many: counts of draws, rows of neighbours."""
Strings = NDArray[np.str_]
Vectors = NDArray[np.float32]
