-- Forgives what a rule got wrong so far: verdicts up to now speak neither for nor against it.
INSERT INTO sandkeeper.armings AS a (rule, after)
VALUES (@rule, (SELECT coalesce(max(number), 0) FROM sandkeeper.verdicts))
ON CONFLICT (rule) DO UPDATE SET after = excluded.after
