-- OFFSET 0 as in add_puzzles.
WITH level AS MATERIALIZED (
    SELECT b.*, p.id AS puzzle_id
    FROM block b LEFT JOIN LATERAL (SELECT id FROM puzzle WHERE key = b.key OFFSET 0) p ON true
),
asked AS (
    INSERT INTO staging (index, puzzle_id, metric, family, cells, pieces)
    SELECT index, puzzle_id, metric, family, cells, pieces FROM level WHERE error IS NULL
)
INSERT INTO batch_item (batch_id, index, line, name, tags, known, puzzle_id, metric, symmetry, fields, error)
SELECT %(batch)s, index, line, name, tags, known, puzzle_id, metric, symmetry, fields, error
FROM level
