-- The platform hands a task out, under a sandbox name of its own.
UPDATE tasks SET status = 'assigned', sandbox_id = @key, updated_at = now() WHERE id = @id
