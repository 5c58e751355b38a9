"""A store filled with any number of solved puzzles in minutes: what real answers look like, many times over.

Every column is as wide as that of the real answer it is a copy of; keys are hashes of numbers, so no board has them.
"""

from __future__ import annotations

from sqlalchemy import Engine

BATCH_LEVELS = 1_000_000
TABLES = ("puzzle", "solution", "attempt", "batch", "batch_item", "chunk", "pending")

# Constraints and indexes of the tables to be filled, and how to make them again: foreign keys, on them too, last.
CONSTRAINTS = """
SELECT conrelid::regclass::text AS relation, conname AS name, pg_get_constraintdef(oid) AS definition
FROM pg_constraint
WHERE contype IN ('p', 'u', 'f')
    AND (conrelid::regclass::text = ANY(%(tables)s) OR confrelid::regclass::text = ANY(%(tables)s))
ORDER BY contype = 'f'
"""
INDEXES = """
SELECT indexname AS name, indexdef AS definition
FROM pg_indexes
WHERE schemaname = 'public' AND tablename = ANY(%(tables)s) AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""

# %(puzzles)s puzzles, each a copy of one of the templates, with its answer, its attempt and its place in a batch.
FILL = (
    """
    INSERT INTO puzzle (id, key, family, rules_version, width, height, pieces, canonical) OVERRIDING SYSTEM VALUE
    SELECT n, decode(md5(n::text), 'hex'), family, rules_version, width, height, pieces, canonical
    FROM generate_series(1, %(puzzles)s) n JOIN template ON number = mod(n, %(templates)s)
    """,
    """
    INSERT INTO solution (
        puzzle_id, metric, family, outcome, length, lower, upper, moves, reason, expanded, generated, seconds,
        algorithm, heuristic, pruned, budget_seconds, budget_nodes, budget_bytes
    )
    SELECT
        n, metric, family, outcome, length, lower, upper, moves, reason, expanded, generated, seconds,
        algorithm, heuristic, pruned, budget_seconds, budget_nodes, budget_bytes
    FROM generate_series(1, %(puzzles)s) n JOIN template ON number = mod(n, %(templates)s)
    """,
    """
    INSERT INTO attempt (
        puzzle_id, metric, outcome, algorithm, expanded, generated, peak_states, peak_bytes, seconds, cpu_seconds,
        profile, worker, version
    )
    SELECT
        n, metric, outcome, algorithm, expanded, generated, peak_states, peak_bytes, seconds, cpu_seconds,
        profile, worker, version
    FROM generate_series(1, %(puzzles)s) n JOIN template ON number = mod(n, %(templates)s)
    """,
    """
    INSERT INTO batch (id, name, queue, levels, budget_seconds, budget_bytes) OVERRIDING SYSTEM VALUE
    SELECT b, 'batch ' || b, 'bulk', least(%(puzzles)s - (b - 1) * %(levels)s, %(levels)s), 60, 2e9
    FROM generate_series(1, ceil(%(puzzles)s / %(levels)s::numeric)) b
    """,
    """
    INSERT INTO batch_item (batch_id, index, line, name, tags, known, puzzle_id, metric, symmetry, fields)
    SELECT
        (n - 1) / %(levels)s + 1, mod(n - 1, %(levels)s), mod(n - 1, %(levels)s) + 1, 'level ' || n, '{}', known, n,
        metric, symmetry, fields
    FROM generate_series(1, %(puzzles)s) n JOIN template ON number = mod(n, %(templates)s)
    """,
)

TEMPLATES = """
CREATE TABLE template AS
SELECT
    row_number() OVER (ORDER BY i.index) - 1 AS number, p.family, p.rules_version, p.width, p.height, p.pieces,
    p.canonical, s.metric, s.outcome, s.length, s.lower, s.upper, s.moves, s.reason, s.expanded, s.generated, s.seconds,
    s.algorithm, s.heuristic, s.pruned, s.budget_seconds, s.budget_nodes, s.budget_bytes, a.peak_states, a.peak_bytes,
    a.cpu_seconds, a.profile, a.worker, a.version, i.known, i.symmetry, i.fields
FROM batch_item i
JOIN puzzle p ON p.id = i.puzzle_id
JOIN solution s USING (puzzle_id, metric)
JOIN attempt a USING (puzzle_id, metric)
"""

BYTES = """
SELECT relname AS name, pg_table_size(oid) AS bytes
FROM pg_class
WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace AND relname NOT IN ('template', 'fill')
ORDER BY bytes DESC
"""


def make_templates(engine: Engine) -> None:
    """Keep the answers that the store holds, each solved once, as what it is filled with."""
    with engine.begin() as connection:
        connection.exec_driver_sql(TEMPLATES)
        connection.exec_driver_sql("CREATE TABLE fill (puzzles bigint)")


def filled(engine: Engine) -> int:
    """How many puzzles the store was filled with; 0 for one that never was."""
    with engine.connect() as connection:
        if connection.exec_driver_sql("SELECT to_regclass('template')").scalar_one() is None:
            return 0
        return int(connection.exec_driver_sql("SELECT coalesce(max(puzzles), 0) FROM fill").scalar_one())


def fill(engine: Engine, puzzles: int) -> None:
    """Replace what the store holds by so many puzzles. Indexes are built afterwards, so they are as small as can be."""
    names = {"tables": list(TABLES)}
    with engine.begin() as connection:
        run = connection.exec_driver_sql
        run("SET LOCAL maintenance_work_mem = '1GB'")
        templates = run("SELECT count(*) FROM template").scalar_one()
        many = {"puzzles": puzzles, "templates": templates, "levels": BATCH_LEVELS}
        constraints, indexes = run(CONSTRAINTS, names).all(), run(INDEXES, names).all()
        run(f"TRUNCATE {', '.join(TABLES)} RESTART IDENTITY CASCADE")  # in this transaction: so it writes no log
        for one in reversed(constraints):
            run(f"ALTER TABLE {one.relation} DROP CONSTRAINT {one.name}")
        for one in indexes:
            run(f"DROP INDEX {one.name}")
        for statement in FILL:
            run(statement, many)
        for one in constraints:
            run(f"ALTER TABLE {one.relation} ADD CONSTRAINT {one.name} {one.definition}")
        for one in indexes:
            run(one.definition)
        for table in ("puzzle", "batch"):
            run(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")
        run("DELETE FROM fill")
        run("INSERT INTO fill VALUES (%(puzzles)s)", many)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM (ANALYZE)")
