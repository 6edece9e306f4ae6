-- A person stops a task: OmoiOS never stores the status cancelled, its error says it.
UPDATE tasks
SET status = 'failed', error_message = 'Task cancelled: stopped by its user', completed_at = now(), updated_at = now()
WHERE id = @id
