-- Bounds of two searches of one puzzle are joined: both hold.
INSERT INTO solution (
    puzzle_id, metric, family, outcome, length, lower, upper, moves, reason, expanded, generated, seconds,
    algorithm, heuristic, pruned, budget_seconds, budget_nodes, budget_bytes
)
SELECT
    a.puzzle_id, a.metric, p.family, a.outcome, a.length, a.lower, a.upper, a.moves, a.reason, a.expanded, a.generated,
    a.seconds, a.algorithm, a.heuristic, a.pruned, b.budget_seconds, b.budget_nodes, b.budget_bytes
FROM found a
JOIN puzzle p ON p.id = a.puzzle_id
JOIN batch b ON b.id = %(batch)s
ORDER BY a.puzzle_id, a.metric
ON CONFLICT (puzzle_id, metric) DO UPDATE SET
    outcome = excluded.outcome,
    length = excluded.length,
    lower = CASE WHEN excluded.outcome = 'bounded' THEN greatest(excluded.lower, solution.lower) ELSE excluded.lower END,
    upper = CASE WHEN excluded.outcome = 'bounded' THEN least(excluded.upper, solution.upper) ELSE excluded.upper END,
    moves = CASE
        WHEN excluded.outcome <> 'bounded' OR solution.upper IS NULL OR excluded.upper < solution.upper
        THEN excluded.moves ELSE solution.moves
    END,
    reason = excluded.reason,
    expanded = excluded.expanded,
    generated = excluded.generated,
    seconds = excluded.seconds,
    algorithm = excluded.algorithm,
    heuristic = excluded.heuristic,
    pruned = excluded.pruned,
    budget_seconds = CASE WHEN {larger_budget} OR solution.outcome = 'failed' OR excluded.outcome <> 'bounded'
        THEN excluded.budget_seconds ELSE solution.budget_seconds END,
    budget_nodes = CASE WHEN {larger_budget} OR solution.outcome = 'failed' OR excluded.outcome <> 'bounded'
        THEN excluded.budget_nodes ELSE solution.budget_nodes END,
    budget_bytes = CASE WHEN {larger_budget} OR solution.outcome = 'failed' OR excluded.outcome <> 'bounded'
        THEN excluded.budget_bytes ELSE solution.budget_bytes END,
    created = now()
WHERE {better}
