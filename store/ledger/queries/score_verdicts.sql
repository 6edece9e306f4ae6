-- How many verdicts each rule came to lately, of these those whose begin is known, and of
-- these those that came soon after their threshold.
SELECT rule, count(*), count(began), count(*) FILTER (WHERE began IS NOT NULL AND late_us <= @soon_us)
FROM sandkeeper.verdicts WHERE at > @from GROUP BY rule
