-- Lowers a rule's mode, or gives it back to the config.
INSERT INTO sandkeeper.modes (rule, mode, author, reason, at, seal)
VALUES (@rule, @mode, @author, @reason, @now, @seal)
