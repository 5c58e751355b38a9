SELECT
    i.index, i.line, i.name, i.known, i.error, i.metric, i.symmetry, i.fields, p.family, p.key,
    s.outcome, s.length, s.lower, s.upper, s.moves, s.reason, s.expanded, s.generated, s.seconds,
    s.algorithm, s.heuristic, s.pruned
FROM (
    SELECT * FROM batch_item WHERE batch_id = %(batch)s AND index > %(after)s ORDER BY index LIMIT %(limit)s
) i
LEFT JOIN puzzle p ON p.id = i.puzzle_id
LEFT JOIN pending q USING (batch_id, puzzle_id, metric)
LEFT JOIN solution s ON s.puzzle_id = i.puzzle_id AND s.metric = i.metric AND q.chunk_id IS NULL
ORDER BY i.index
