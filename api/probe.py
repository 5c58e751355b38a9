"""``python -m api.probe``: exit 0 if the API of this machine answers, else 1. The health check of the container."""

from __future__ import annotations

import sys
from urllib.request import urlopen

from unjam.settings import get_settings


def main() -> int:
    try:
        with urlopen(f"http://127.0.0.1:{get_settings().api_port}/healthz", timeout=3):
            return 0
    except OSError as error:
        print(f"the API does not answer: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
