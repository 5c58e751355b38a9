"""``python -m worker.probe [QUEUES]``: exit 0 if the worker of this machine gets on, else 1.

It does when each of its processes with a chunk made progress lately, and when nothing has waited for long while none of
them did anything. A Postgres that does not answer is not the worker's fault.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sqlalchemy.exc import OperationalError

from unjam import heartbeat
from unjam.settings import get_settings
from unjam.store import chunks
from unjam.store.database import open_engine
from worker.app import QUEUES
from worker.tasks import database_url


def main(queues: Sequence[str] = QUEUES) -> int:
    patience = 2 * get_settings().lease_seconds
    if pids := heartbeat.stuck(patience):
        print(f"no progress for more than {patience:g} s in process {', '.join(map(str, pids))}", file=sys.stderr)
        return 1
    if heartbeat.still(patience) and _work_waits(queues, patience):
        print(f"work waits, and nothing was done for more than {patience:g} s", file=sys.stderr)
        return 1
    return 0


def _work_waits(queues: Sequence[str], seconds: float) -> bool:
    engine = open_engine(database_url())
    try:
        return chunks.waits_since(engine, queues, seconds)
    except OperationalError as error:
        print(f"the database does not answer: {str(error).splitlines()[0]}", file=sys.stderr)
        return False
    finally:
        engine.dispose()


if __name__ == "__main__":
    sys.exit(main(*(word.split(",") for word in sys.argv[1:])))
