-- Ends a pass, once.
WITH ended AS (
    UPDATE sandkeeper.passes
    SET ended_at = @now, complete = @complete, error = @error, kept = @kept, counts = @counts
    WHERE id = @pass
      -- guard:sql-pass-ends-once once
      AND ended_at IS NULL
    RETURNING kind, complete
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'passes', '', '', kind || CASE WHEN complete THEN ':complete' ELSE ':incomplete' END, 1 FROM ended
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
