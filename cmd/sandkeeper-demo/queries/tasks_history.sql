-- What was finished before the demo begins.
INSERT INTO tasks (id, ticket_id, phase_id, task_type, priority, status, retry_count, max_retries,
                   created_at, updated_at, started_at, completed_at, error_message)
SELECT gen_random_uuid(), 'ticket', 'PHASE_IMPLEMENTATION', 'implement_feature', 'MEDIUM',
       CASE WHEN n % 10 < 2 THEN 'failed' ELSE 'completed' END, 0, 3,
       now() - make_interval(mins => n + 20), now() - make_interval(mins => n),
       now() - make_interval(mins => n + 19), now() - make_interval(mins => n),
       CASE n % 10 WHEN 1 THEN 'Task cancelled: stopped by its user' END
FROM generate_series(10, 10 + @count::int - 1) AS n
