-- Makes what happened to these tasks lie further back, for a story that is in a hurry.
WITH older AS (
    UPDATE sandbox_events SET created_at = created_at - @age::interval
    WHERE sandbox_id IN (SELECT sandbox_id FROM tasks WHERE id = ANY (@ids::text[]))
)
UPDATE tasks SET updated_at = updated_at - @age::interval, started_at = started_at - @age::interval,
                 completed_at = completed_at - @age::interval
WHERE id = ANY (@ids::text[])
