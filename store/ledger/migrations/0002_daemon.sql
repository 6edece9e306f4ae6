-- The daemon: calls to providers are counted over all processes, and page and metrics read
-- the ledger all the time, so no reading of theirs may follow the history.

-- The next free place for a call to a provider, by the database's clock.
CREATE TABLE sandkeeper.rates (
    provider text PRIMARY KEY CHECK (provider <> ''),
    next_at  timestamptz NOT NULL
);

-- When the provider was first asked to end the sandbox; acted_at is the newest time.
ALTER TABLE sandkeeper.actions ADD first_acted_at timestamptz;
UPDATE sandkeeper.actions SET first_acted_at = acted_at WHERE acted_at IS NOT NULL AND closed_at IS NULL;

-- The newest pass of each kind, complete or not.
CREATE INDEX passes_newest ON sandkeeper.passes (kind, complete, id DESC)
    WHERE ended_at IS NOT NULL;

-- The oldest open findings.
CREATE INDEX findings_open ON sandkeeper.findings (opened_at, rule, subject) WHERE resolved_at IS NULL;
