-- Deletes actions that were closed long ago, whole remedies only: a step that is open, or
-- closed lately, still needs those before it. What the budgets count stays.
DELETE FROM sandkeeper.actions WHERE id IN (
    SELECT a.id FROM sandkeeper.actions a
    WHERE a.closed_at < @before
      -- guard:sql-purge-hour P7
      AND (a.begun_at IS NULL OR a.begun_at <= @hour_ago)
      -- guard:sql-purge-remedy lost
      AND NOT EXISTS (SELECT FROM sandkeeper.actions o WHERE o.remedy = a.remedy AND (o.closed_at IS NULL OR o.closed_at >= @before))
    LIMIT @batch)
