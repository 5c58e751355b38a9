(
    coalesce(excluded.budget_seconds, 'infinity') >= coalesce(solution.budget_seconds, 'infinity')
    AND coalesce(excluded.budget_nodes, 'infinity'::numeric) >= coalesce(solution.budget_nodes, 'infinity'::numeric)
    AND coalesce(excluded.budget_bytes, 'infinity'::numeric) >= coalesce(solution.budget_bytes, 'infinity'::numeric)
    AND (excluded.budget_seconds, excluded.budget_nodes, excluded.budget_bytes)
        IS DISTINCT FROM (solution.budget_seconds, solution.budget_nodes, solution.budget_bytes)
)
