-- A person stops a task.
UPDATE tasks SET status = 'cancelled', completed_at = now(), updated_at = now() WHERE id = @id
