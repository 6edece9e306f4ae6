-- Lowers a rule's mode.
INSERT INTO sandkeeper.modes (rule, mode, author, reason, at)
VALUES (@rule, @mode, @author, @reason, @now)
ON CONFLICT (rule) DO UPDATE SET
    mode = excluded.mode, author = excluded.author, reason = excluded.reason, at = excluded.at
