-- Pauses a scope; one that was paused before is lifted first.
INSERT INTO sandkeeper.pauses (scope, author, reason, at, until)
VALUES (@scope, @author, @reason, @now, @until)
