-- All tokens that are kept, newest first.
SELECT id, token_user, scope, hash, author, reason, at, until, seal, revoked_at FROM sandkeeper.tokens ORDER BY at DESC, id
