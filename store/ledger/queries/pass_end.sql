-- Ends a pass, once. It sets back how far the ledger-timed clocks reach, keeps the rules that the first pass knew, for a
-- rule of a later version is never added, so it stays new until it is named, and closes the breakers that the pass no
-- longer names.
WITH watched AS (
    UPDATE sandkeeper.installation
    SET watch_since = coalesce(@watch_since::timestamptz, watch_since),
        known_rules = coalesce(known_rules, @known::text[])
    WHERE watch_since IS DISTINCT FROM coalesce(@watch_since::timestamptz, watch_since)
       OR (known_rules IS NULL AND @known::text[] IS NOT NULL)
), closed AS (
    DELETE FROM sandkeeper.breakers WHERE NOT rule = ANY(@rules::text[])
), ended AS (
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
