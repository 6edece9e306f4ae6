-- A user asks for something: a task that waits for a worker.
INSERT INTO tasks (id) VALUES (@id)
