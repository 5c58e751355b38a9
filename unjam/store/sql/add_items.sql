INSERT INTO batch_item (batch_id, index, line, name, tags, known, puzzle_id, metric, symmetry, fields, error)
SELECT %(batch)s, s.index, s.line, s.name, s.tags, s.known, p.id, s.metric, s.symmetry, s.fields, s.error
FROM staging s LEFT JOIN puzzle p USING (key)
