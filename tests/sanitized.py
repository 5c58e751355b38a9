"""Puts the kernels that tests/sanitize compiled, in the folder ``UNJAM_SANITIZED``, in the place of the installed ones.

To be imported before unjam: ``pytest -p tests.sanitized``.
"""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_path = next(Path(os.environ["UNJAM_SANITIZED"]).glob("_kernels_base.*"))
_spec = spec_from_file_location("unjam._kernels_base", _path)
assert _spec is not None
assert _spec.loader is not None
_kernels = module_from_spec(_spec)
_spec.loader.exec_module(_kernels)
assert "unjam" not in sys.modules
sys.modules["unjam._kernels_base"] = sys.modules["unjam._kernels_v3"] = _kernels
