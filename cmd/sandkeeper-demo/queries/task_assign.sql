-- The sandbox is made: the platform hands the task to it, under a name of its own.
UPDATE tasks SET status = 'assigned', sandbox_id = @key, assigned_agent_id = @agent, updated_at = now() WHERE id = @id
