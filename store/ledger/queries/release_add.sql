-- Releases listed subjects, until a time.
INSERT INTO sandkeeper.releases (what, subjects, hash, author, reason, at, until, seal)
VALUES (@what, @subjects, @hash, @author, @reason, @now, @until, @seal)
RETURNING id
