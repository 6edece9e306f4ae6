-- Releases listed subjects, until a time.
INSERT INTO sandkeeper.releases (what, subjects, hash, author, reason, at, until)
VALUES (@what, @subjects, @hash, @author, @reason, @now, @until)
RETURNING id
