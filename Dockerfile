# One image for the API, the workers, the reconciler and the migration. The compiler stays in the first stage.
FROM python:3.11-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml CMakeLists.txt README.md ./
COPY kernels kernels
COPY unjam unjam
COPY migrations migrations
COPY cli cli
COPY api api
COPY worker worker
RUN python -m venv /opt/unjam && /opt/unjam/bin/pip install --no-cache-dir ".[flower]"

FROM python:3.11-slim-bookworm
RUN useradd --create-home --uid 10001 unjam \
    && install --directory --owner=unjam /var/lib/unjam/tables
COPY --from=build /opt/unjam /opt/unjam
ENV PATH=/opt/unjam/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    UNJAM_API_HOST=0.0.0.0
USER unjam
WORKDIR /home/unjam
EXPOSE 8731
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["python", "-m", "api.probe"]
CMD ["unjam", "api"]
