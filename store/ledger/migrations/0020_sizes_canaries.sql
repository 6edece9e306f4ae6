-- Where a sandbox is and how large, by its provider, as far as it says: its price follows that.
ALTER TABLE sandkeeper.sandboxes
    ADD COLUMN region     text NOT NULL DEFAULT '',
    ADD COLUMN cpu        double precision NOT NULL DEFAULT 0,
    ADD COLUMN gpu        double precision NOT NULL DEFAULT 0,
    ADD COLUMN memory_gib double precision NOT NULL DEFAULT 0;

-- The sandboxes that sandkeeper made itself to be found. A row is there before the provider is asked; the slot of time
-- is taken once over all replicas.
CREATE TABLE sandkeeper.canaries (
    slot       text PRIMARY KEY,
    provider   text NOT NULL,
    name       text NOT NULL CHECK (name <> ''),
    sandbox    text NOT NULL DEFAULT '',
    error      text NOT NULL DEFAULT '',
    planted_at timestamptz NOT NULL
);
CREATE INDEX canaries_planted ON sandkeeper.canaries (planted_at DESC);
CREATE INDEX canaries_sandbox ON sandkeeper.canaries (provider, sandbox) WHERE sandbox <> '';

-- How far a history has been read that takes longer than one run may: the next one goes on.
CREATE TABLE sandkeeper.proof_progress (
    key        text PRIMARY KEY,
    since      timestamptz NOT NULL,
    until      timestamptz NOT NULL,
    after_id   text NOT NULL,
    tasks      bigint NOT NULL,
    state      bytea NOT NULL,
    saved_at   timestamptz NOT NULL,
    seal       text NOT NULL DEFAULT ''
);
