-- Whether the new answer replaces the stored one: a proof beats bounds, bounds beat a failure; tighter bounds, or the
-- same under a larger budget, beat bounds. As good a one does so only where the batch named its algorithm.
CASE excluded.outcome WHEN 'failed' THEN 0 WHEN 'bounded' THEN 1 ELSE 2 END
    > CASE solution.outcome WHEN 'failed' THEN 0 WHEN 'bounded' THEN 1 ELSE 2 END
OR (
    excluded.outcome = 'bounded' AND solution.outcome = 'bounded'
    AND (
        excluded.lower > solution.lower
        OR excluded.upper < coalesce(solution.upper, 2147483647)
        OR {larger_budget}
    )
)
OR (
    %(named)s AND excluded.outcome = solution.outcome AND excluded.outcome IN ('optimal', 'unsolvable')
    AND excluded.length IS NOT DISTINCT FROM solution.length
)
