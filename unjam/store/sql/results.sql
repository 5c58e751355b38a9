-- Of a cancelled batch what is known, be it from other batches; the checkpoint of a shared search has bounds, too.
SELECT
    i.index, i.line, i.name, i.known, i.error, i.metric, i.symmetry, i.fields, p.family, p.key,
    coalesce(s.outcome, CASE WHEN c.id IS NOT NULL THEN 'bounded' END) AS outcome, s.length,
    greatest(s.lower, c.bound) AS lower, least(s.upper, c.upper) AS upper,
    CASE WHEN c.upper < s.upper OR s.upper IS NULL THEN c.moves ELSE s.moves END AS moves,
    CASE WHEN c.id IS NULL THEN s.reason ELSE 'cancelled' END AS reason,
    coalesce(c.expanded, s.expanded) AS expanded,
    coalesce((SELECT sum(nodes) FROM unnest(c.profile) nodes)::bigint + c.bound_generated, s.generated) AS generated,
    coalesce(c.seconds, s.seconds) AS seconds,
    CASE WHEN c.id IS NULL THEN s.algorithm ELSE 'idastar' END AS algorithm,
    coalesce(c.heuristic, s.heuristic) AS heuristic, s.pruned
FROM (
    SELECT * FROM batch_item WHERE batch_id = %(batch)s AND index > %(after)s ORDER BY index LIMIT %(limit)s
) i
JOIN batch b ON b.id = i.batch_id
LEFT JOIN puzzle p ON p.id = i.puzzle_id
LEFT JOIN pending q USING (batch_id, puzzle_id, metric)
LEFT JOIN solution s
    ON s.puzzle_id = i.puzzle_id AND s.metric = i.metric AND (q.chunk_id IS NULL OR b.cancelled IS NOT NULL)
LEFT JOIN checkpoint c
    ON c.batch_id = i.batch_id AND c.puzzle_id = i.puzzle_id AND c.metric = i.metric
    AND q.chunk_id IS NOT NULL AND b.cancelled IS NOT NULL AND coalesce(s.outcome, 'bounded') = 'bounded'
ORDER BY i.index
