-- Deletes the jobs that were added to the queue before one was taken and wait to be begun,
-- as far as they are of these kinds. One that another process takes at the moment stays, and
-- so does one that a person asked for, or a provider pushed: the pass of a schedule may turn out not to be due.
DELETE FROM sandkeeper.river_job
WHERE id IN (
    SELECT waiting.id
    FROM sandkeeper.river_job waiting
    WHERE waiting.queue = @queue
      AND waiting.state = 'available'
      AND waiting.args ->> 'kind' = ANY (@kinds::text[])
      AND waiting.args ->> 'asked' IS NULL
      AND waiting.args -> 'pushed' IS NULL
      AND waiting.created_at <= (SELECT taken.attempted_at FROM sandkeeper.river_job taken WHERE taken.id = @job)
    FOR UPDATE SKIP LOCKED)
