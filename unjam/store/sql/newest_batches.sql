{batch_state}
WHERE %(before)s::bigint IS NULL OR b.id < %(before)s
ORDER BY b.id DESC
LIMIT %(limit)s
