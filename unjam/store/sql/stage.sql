INSERT INTO staging (
    index, line, name, tags, known, error, puzzle_id, family, cells, pieces, metric, symmetry, fields
)
SELECT
    b.index, b.line, b.name, b.tags, b.known, b.error, p.id, b.family, b.width * b.height, b.pieces, b.metric,
    b.symmetry, b.fields
FROM block b LEFT JOIN puzzle p USING (key)
