-- One token.
SELECT id, token_user, scope, hash, author, reason, at, until, seal, revoked_at FROM sandkeeper.tokens WHERE id = @id
