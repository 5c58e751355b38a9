"""Alembic migrations of the store. ``alembic revision --autogenerate`` reads unjam/store/schema.py."""
