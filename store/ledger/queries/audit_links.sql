-- The links of the timeline's chain.
SELECT id, numbers, sums, hash FROM sandkeeper.timeline_links ORDER BY id
