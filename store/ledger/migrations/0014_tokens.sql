-- Tokens for programs. Of a secret only its hash is kept.
CREATE TABLE sandkeeper.tokens (
    id           text PRIMARY KEY,
    token_user   text NOT NULL,
    scope        text NOT NULL CHECK (scope IN ('read', 'act')),
    hash         text NOT NULL,
    author       text NOT NULL,
    reason       text NOT NULL,
    at           timestamptz NOT NULL,
    until        timestamptz NOT NULL,
    seal         text NOT NULL DEFAULT '',
    revoked_at   timestamptz
);
