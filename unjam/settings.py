"""Settings of the programs, read from the environment: ``UNJAM_DATABASE_URL`` and so on (docs/settings.md)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from unjam.errors import SettingsError


class Settings(BaseSettings):
    """Each field is the environment variable of the same name with the prefix ``UNJAM_``."""

    model_config = SettingsConfigDict(env_prefix="UNJAM_", env_ignore_empty=True)

    database_url: str | None = Field(
        default=None,
        description="Postgres, as postgresql://user:password@host/name. Unset: a private one in the data folder.",
    )
    redis_url: str | None = Field(
        default=None, description="Redis or Valkey for `unjam worker`, as redis://host:6379/0. Unset: a private one."
    )
    home: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("unjam"),
        description="Data folder: holds the private Postgres and Redis.",
    )
    lease_seconds: float = Field(
        default=60,
        gt=1,
        description="How long a worker keeps a chunk without a sign of progress before others may take it.",
    )
    max_worker_bytes: int | None = Field(
        default=None,
        ge=200_000_000,
        description="Most memory of one process of `unjam worker`. Unset: the machine's, shared equally among them.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least level that is logged."
    )
    log_format: Literal["json", "text"] | None = Field(
        default=None, description="How events are logged. Unset: as text to a terminal, else as JSON."
    )
    api_host: str = Field(default="127.0.0.1", description="Address the API listens on.")
    api_port: int = Field(default=8731, ge=0, le=65535, description="Port the API listens on.")
    local_needs_key: bool = Field(
        default=False, description="Whether clients on the API's own machine need a key, too, as those elsewhere do."
    )
    max_body_bytes: int = Field(default=256 * 2**20, gt=0, description="Largest request body the API accepts.")
    max_batch_levels: int = Field(default=1_000_000, gt=0, description="Most levels in one batch of the API.")
    max_budget_bytes: int = Field(
        default=8_000_000_000, gt=0, description="Most memory that one search of the API may ask for."
    )
    max_hints: int = Field(
        default=4, gt=0, le=32, description="Most searches for hints that the API runs at once; others are refused."
    )
    max_watchers: int = Field(
        default=200,
        ge=0,
        description="Most clients that one API process tells how far batches are; others are refused.",
    )


@cache
def get_settings() -> Settings:
    """The settings of this process, read once; raises SettingsError, which names each that is wrong."""
    try:
        return Settings()
    except ValidationError as error:
        wrong = (f"UNJAM_{str(one['loc'][0]).upper()} is {one['input']!r}: {one['msg']}" for one in error.errors())
        raise SettingsError("\n".join(wrong)) from None
