-- The platform takes a task out of the queue, for a provider. The row names no sandbox yet.
UPDATE tasks SET status = 'claiming', provider = @provider, updated_at = now() WHERE id = @id
