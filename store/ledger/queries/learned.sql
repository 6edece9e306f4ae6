-- The thresholds that were learned, of each rule as they were computed last.
SELECT l.rule, l.class, l.at, l.after_us, l.target_us, l.from_us, l.samples, l.dead, l.frozen, l.sum, l.line, l.seal
FROM unnest(@rules::text[]) AS r (rule)
CROSS JOIN LATERAL (SELECT max(n.at) AS at FROM sandkeeper.learned AS n WHERE n.rule = r.rule) AS newest
JOIN sandkeeper.learned AS l ON l.rule = r.rule AND l.at = newest.at
ORDER BY l.rule, l.class, l.id
