-- The platform hands a task out to a provider, under a sandbox name of its own.
UPDATE tasks SET status = 'assigned', sandbox_id = @key, provider = @provider, updated_at = now() WHERE id = @id
