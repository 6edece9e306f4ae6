-- A user asks for something: a task that waits for a worker.
INSERT INTO tasks (id, ticket_id, phase_id, task_type, priority, status, retry_count, max_retries, created_at, updated_at)
VALUES (@id, 'ticket', 'PHASE_IMPLEMENTATION', 'implement_feature', 'MEDIUM', 'pending', 0, 3, now(), now())
