-- Deletes so many of the jobs for passes that wait because of pushes, the oldest first, and returns what they were to
-- look at. One that another process takes at the moment stays.
DELETE FROM sandkeeper.river_job
WHERE id IN (
    SELECT waiting.id
    FROM sandkeeper.river_job waiting
    WHERE waiting.queue = @queue
      AND waiting.state = 'available'
      AND waiting.args -> 'pushed' IS NOT NULL
    ORDER BY waiting.id
    LIMIT @most
    FOR UPDATE SKIP LOCKED)
RETURNING args
