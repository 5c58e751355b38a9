{batch_state}
WHERE b.id = ANY(%(batches)s)
ORDER BY b.id
