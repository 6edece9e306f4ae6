-- Lets a job for a pass take over what the oldest jobs are to look at that wait because of pushes: it names that too,
-- and they are gone, in one step, so that whoever goes on with it after a stop or a crash looks at it. One that
-- another process takes at the moment stays.
WITH taken AS (
    DELETE FROM sandkeeper.river_job
    WHERE id IN (
        SELECT waiting.id
        FROM sandkeeper.river_job waiting
        WHERE waiting.queue = @queue
          AND waiting.state = 'available'
          AND waiting.args -> 'pushed' IS NOT NULL
          AND waiting.id <> @job
        ORDER BY waiting.id
        LIMIT @most
        FOR UPDATE SKIP LOCKED)
    RETURNING id, args -> 'pushed' AS refs)
UPDATE sandkeeper.river_job
SET args = jsonb_set(args, '{pushed}', args -> 'pushed' || coalesce(
    (SELECT jsonb_agg(ref ORDER BY taken.id) FROM taken, jsonb_array_elements(taken.refs) ref), '[]'))
WHERE id = @job
RETURNING args -> 'pushed'
