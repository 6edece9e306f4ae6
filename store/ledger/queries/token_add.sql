-- A token, as it was made.
INSERT INTO sandkeeper.tokens (id, token_user, scope, hash, author, reason, at, until, seal)
VALUES (@id, @user, @scope, @hash, @author, @reason, @now, @until, @seal)
