DELETE FROM pending q USING found f
WHERE q.chunk_id = %(chunk)s AND q.puzzle_id = f.puzzle_id AND q.metric = f.metric
