"""The HTTP API: a thin FastAPI application over ``unjam.store``. ``api.app.create_app`` makes it; docs/api.md describes it."""
