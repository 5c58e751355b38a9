DELETE FROM pending
WHERE chunk_id = %(chunk)s
    AND (puzzle_id, metric) IN (SELECT * FROM unnest(%(puzzle_id)s::bigint[], %(metric)s::text[]))
