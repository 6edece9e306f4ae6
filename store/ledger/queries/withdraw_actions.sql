-- Withdraws planned actions whose finding no longer holds, and the later steps of those
-- that were a remedy's first. One that is claimed, or just about to be, that was accepted,
-- or whose holder died stays: only who looks at the outside again can say what became of it.
-- What an operator asked for is no pass's to withdraw.
WITH first AS (
    SELECT id FROM sandkeeper.actions
    WHERE id = ANY(@ids::text[])
      AND closed_at IS NULL
      AND claimed_by = ''
      -- guard:sql-withdraw-tried lost
      AND attempts = 0
      AND outcome = 'pending'
      -- guard:sql-withdraw-wish lost
      AND author = ''
    -- guard:sql-withdraw-lock live
    FOR UPDATE SKIP LOCKED
), chosen AS (
    SELECT id FROM first
    UNION SELECT later.id FROM first JOIN sandkeeper.actions later ON later.remedy = first.id
)
UPDATE sandkeeper.actions a
SET outcome = 'withdrawn', closed_at = @now,
    detail = CASE WHEN a.id IN (SELECT id FROM first) THEN 'the finding no longer holds'
                  ELSE 'the first step was withdrawn' END
WHERE a.id IN (SELECT id FROM chosen)
  AND a.closed_at IS NULL
  AND a.claimed_by = '' AND a.outcome = 'pending'
