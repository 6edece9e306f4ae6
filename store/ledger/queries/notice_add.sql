-- Writes down that the platform is to be told of an action, once.
INSERT INTO sandkeeper.notices (action, task, provider, sandbox, rule, step, outcome, reason, at, next_at)
VALUES (@action, @task, @provider, @sandbox, @rule, @step, @outcome, @reason, @now, @now)
ON CONFLICT (action) DO NOTHING
