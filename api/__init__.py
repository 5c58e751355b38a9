"""The HTTP API (docs/api.md): a thin FastAPI application over ``unjam.store``, made by ``api.app.create_app``."""
