-- The rows that the audit asks for, and all that failed since the demo began.
SELECT id, status, coalesce(error_message, '') AS error
FROM tasks
WHERE id = ANY (@ids::text[]) OR status = 'failed' AND coalesce(error_message, '') NOT LIKE 'Task cancelled:%' AND completed_at > @since
