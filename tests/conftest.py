"""What several tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of known answers, which lies beside the repository; ``UNJAM_SHARED_DATA`` says where else."""
    folder = Path(os.environ.get("UNJAM_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the known answers are missing: no folder {folder}; set UNJAM_SHARED_DATA")
    return folder
