-- Marks the newest verdict of the rule on the subject as carried out: by a write of the
-- task's row, which also makes it one that was enforced, or by the end of a sandbox.
UPDATE sandkeeper.verdicts
SET acted_at = coalesce(acted_at, @now), enforced = true,
    failed_at = CASE WHEN @row THEN coalesce(failed_at, @now) ELSE failed_at END
WHERE number = (SELECT number FROM sandkeeper.verdicts
                WHERE subject = @subject AND rule = @rule ORDER BY number DESC LIMIT 1)
