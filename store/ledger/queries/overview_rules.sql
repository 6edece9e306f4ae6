-- How many findings of each rule are open.
SELECT rule, count(*) FROM sandkeeper.findings WHERE resolved_at IS NULL GROUP BY rule
