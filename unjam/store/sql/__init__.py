"""Queries in files: ``sql("name")`` is the text of name.sql, with ``{other}`` replaced by other.sql."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def sql(name: str) -> str:
    text = (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
    text = re.sub(r"^--.*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"\{(\w+)\}", lambda part: sql(part[1]).strip(), text)
