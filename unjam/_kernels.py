"""The C++ kernels, in the fastest build that this CPU can run; ``UNJAM_PORTABLE=1`` forces the portable one."""

import os

from unjam import _kernels_base

if _kernels_base.supports_v3() and os.environ.get("UNJAM_PORTABLE", "") in ("", "0"):
    from unjam._kernels_v3 import *  # noqa: F403
else:
    from unjam._kernels_base import *  # noqa: F403
