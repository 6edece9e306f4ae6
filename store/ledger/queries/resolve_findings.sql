-- Closes the open findings that a pass could have seen and did not.
WITH resolved AS (
    UPDATE sandkeeper.findings f SET resolved_at = @now
    FROM (SELECT DISTINCT * FROM unnest(@rules::text[], @subjects::text[]) k (rule, subject)) k
    WHERE f.rule = k.rule AND f.subject = k.subject AND f.resolved_at IS NULL
    RETURNING f.rule, f.provider
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'findings_resolved', rule, provider, '', count(*) FROM resolved GROUP BY 2, 3 ORDER BY 2, 3
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
