INSERT INTO batch_item (batch_id, index, line, name, tags, known, puzzle_id, metric, symmetry, fields, error)
SELECT %(batch)s, index, line, name, tags, known, puzzle_id, metric, symmetry, fields, error
FROM staging
