"""Settings that are wrong are named, with what they may be."""

from __future__ import annotations

import pytest

from unjam.errors import SettingsError
from unjam.settings import get_settings


def test_wrong_settings_are_named_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNJAM_API_PORT", "abc")
    monkeypatch.setenv("UNJAM_LOG_LEVEL", "loud")
    with pytest.raises(SettingsError) as refused:
        get_settings.__wrapped__()
    lines = sorted(str(refused.value).splitlines())
    assert [line.partition(":")[0] for line in lines] == ["UNJAM_API_PORT is 'abc'", "UNJAM_LOG_LEVEL is 'loud'"]
