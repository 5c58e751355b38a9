SELECT batch_id FROM chunk WHERE state = 'waiting'
UNION
SELECT batch_id FROM chunk WHERE state = 'leased'
ORDER BY 1
