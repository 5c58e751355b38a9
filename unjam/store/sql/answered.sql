-- Whether solution s needs no search under the budget of batch b. A batch that names an algorithm wants its figures.
CASE s.outcome
    WHEN 'bounded' THEN
        coalesce(s.budget_seconds, 'infinity') >= coalesce(b.budget_seconds, 'infinity')
        AND coalesce(s.budget_nodes, 'infinity'::numeric) >= coalesce(b.budget_nodes, 'infinity'::numeric)
        AND coalesce(s.budget_bytes, 'infinity'::numeric) >= coalesce(b.budget_bytes, 'infinity'::numeric)
    ELSE s.outcome <> 'failed'
END
AND (b.algorithm IS NULL OR s.algorithm IS NULL OR s.algorithm = b.algorithm)
AND (b.heuristic IS NULL OR s.algorithm IS NULL OR s.heuristic = b.heuristic)
