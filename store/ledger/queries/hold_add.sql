-- Holds a target.
INSERT INTO sandkeeper.holds (target, author, reason, at, until)
VALUES (@target, @author, @reason, @now, @until)
RETURNING id
