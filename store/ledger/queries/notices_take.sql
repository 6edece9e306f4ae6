-- Takes notices that are due and puts their next attempt off, with pauses that double, so
-- that nobody else takes them meanwhile. What another process is just taking is passed over.
WITH due AS (
    SELECT action FROM sandkeeper.notices
    WHERE next_at <= @now
      -- guard:sql-notice-open once
      AND closed_at IS NULL
    ORDER BY next_at, action LIMIT @most
    -- guard:sql-notice-lock once
    FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE sandkeeper.notices n
    SET attempts = attempts + 1,
        next_at = @now::timestamptz + least(@longest::interval, @shortest::interval * 2 ^ least(attempts, 20))
    FROM due WHERE n.action = due.action
    RETURNING n.action, n.task, n.provider, n.sandbox, n.rule, n.step, n.outcome, n.reason, n.at, n.attempts - 1 tried
)
SELECT * FROM taken ORDER BY at, action
