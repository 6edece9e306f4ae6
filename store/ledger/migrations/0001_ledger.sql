-- The ledger: what sandkeeper saw, what it came to, and what it did.
-- Empty text stands for "unknown", null times for "never".

CREATE TABLE sandkeeper.installation (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    name        text NOT NULL CHECK (name <> ''),
    stamped_at  timestamptz NOT NULL,
    watch_since timestamptz,
    known_rules text[]
);

-- One row: the pass lease. The epoch rises with each taking and fences every write.
CREATE TABLE sandkeeper.leases (
    name       text PRIMARY KEY,
    holder     text NOT NULL DEFAULT '',
    epoch      bigint NOT NULL DEFAULT 0,
    taken_at   timestamptz,
    expires_at timestamptz
);
INSERT INTO sandkeeper.leases (name) VALUES ('pass');

-- One row: locked by each claim, so that two claims never count the same free place.
CREATE TABLE sandkeeper.budgets (name text PRIMARY KEY);
INSERT INTO sandkeeper.budgets (name) VALUES ('remedies');

CREATE TABLE sandkeeper.passes (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind     text NOT NULL CHECK (kind IN ('quick', 'full')),
    holder   text NOT NULL,
    epoch    bigint NOT NULL,
    began_at timestamptz NOT NULL,
    ended_at timestamptz,
    complete boolean NOT NULL DEFAULT false,
    error    text NOT NULL DEFAULT '',
    kept     integer NOT NULL DEFAULT 0,
    counts   jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX passes_complete ON sandkeeper.passes (ended_at DESC) WHERE complete;
CREATE INDEX passes_began ON sandkeeper.passes (began_at);

CREATE TABLE sandkeeper.task_states (
    id            text PRIMARY KEY,
    status        text NOT NULL,
    state         text NOT NULL
        CHECK (state IN ('', 'pending', 'assigned', 'running', 'completed', 'failed', 'stopped')),
    sandbox       text NOT NULL,
    since         timestamptz,
    first_seen    timestamptz,
    updated_at    timestamptz,
    started_at    timestamptz,
    stale_start   timestamptz,
    ahead_sign    timestamptz,
    ahead_since   timestamptz,
    entry_sum     bigint NOT NULL,
    error_sum     bigint NOT NULL,
    error_changed boolean NOT NULL,
    live          boolean NOT NULL,
    changed_at    timestamptz NOT NULL
);
CREATE INDEX task_states_live ON sandkeeper.task_states (id) WHERE live;
CREATE INDEX task_states_over ON sandkeeper.task_states (changed_at) WHERE NOT live;
CREATE INDEX task_states_sandbox ON sandkeeper.task_states (sandbox) WHERE sandbox <> '';

CREATE TABLE sandkeeper.sandboxes (
    provider    text NOT NULL,
    id          text NOT NULL,
    name        text NOT NULL,
    task        text NOT NULL,
    template    text NOT NULL,
    state       text NOT NULL CHECK (
        state IN ('', 'creating', 'running', 'suspended', 'stopped', 'failed', 'deleting', 'ended')),
    raw         text NOT NULL,
    created_at  timestamptz,
    first_seen  timestamptz,
    state_since timestamptz,
    resumed_at  timestamptz,
    ran_at      timestamptz,
    gone_at     timestamptz,
    gone_by_us  boolean NOT NULL,
    -- What its probes come to, so that a pass never reads their history.
    probe          text NOT NULL DEFAULT '',
    probe_detail   text NOT NULL DEFAULT '',
    probed_at      timestamptz,
    probe_took_us  bigint NOT NULL DEFAULT 0,
    last_answered  timestamptz,
    probe_failures jsonb,
    PRIMARY KEY (provider, id)
);
CREATE INDEX sandboxes_there ON sandkeeper.sandboxes (provider, id) WHERE gone_at IS NULL;
CREATE INDEX sandboxes_gone ON sandkeeper.sandboxes (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX sandboxes_gone_task ON sandkeeper.sandboxes (task) WHERE gone_at IS NOT NULL;
CREATE INDEX sandboxes_task ON sandkeeper.sandboxes (task) WHERE task <> '';
CREATE INDEX sandboxes_id ON sandkeeper.sandboxes (id);
CREATE INDEX sandboxes_name ON sandkeeper.sandboxes (name) WHERE name <> '';

CREATE TABLE sandkeeper.probes (
    number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider text NOT NULL,
    sandbox  text NOT NULL,
    outcome  text NOT NULL
        CHECK (outcome IN ('answered', 'cannot-start', 'hung', 'infrastructure', 'not-allowed')),
    detail   text NOT NULL,
    at       timestamptz NOT NULL,
    took_us  bigint NOT NULL
);
CREATE INDEX probes_sandbox ON sandkeeper.probes (provider, sandbox, at DESC);
CREATE INDEX probes_at ON sandkeeper.probes (at);

CREATE TABLE sandkeeper.probe_budgets (
    provider text PRIMARY KEY,
    minute   timestamptz,
    used     integer NOT NULL DEFAULT 0
);

CREATE TABLE sandkeeper.findings (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule        text NOT NULL CHECK (rule <> ''),
    subject     text NOT NULL CHECK (subject <> ''),
    provider    text NOT NULL,
    sandbox     text NOT NULL,
    task        text NOT NULL,
    reason      text NOT NULL,
    evidence    jsonb NOT NULL,
    opened_at   timestamptz NOT NULL,
    first_seen  timestamptz,
    last_seen   timestamptz,
    sighted_at  timestamptz,
    sightings   integer NOT NULL,
    due         boolean NOT NULL,
    held_by     text[] NOT NULL,
    resolved_at timestamptz
);
CREATE UNIQUE INDEX findings_one_open ON sandkeeper.findings (rule, subject) WHERE resolved_at IS NULL;
CREATE INDEX findings_resolved ON sandkeeper.findings (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX findings_subject ON sandkeeper.findings (subject);
CREATE INDEX findings_task ON sandkeeper.findings (task) WHERE task <> '';
CREATE INDEX findings_sandbox ON sandkeeper.findings (sandbox) WHERE sandbox <> '';

-- The outbox: a step is here before it is done. A remedy is counted by its first step:
-- begun_at, begun_pass and begun_shared are set when that is claimed for the first time.
CREATE TABLE sandkeeper.actions (
    id           text PRIMARY KEY,
    remedy       text NOT NULL CHECK (remedy <> ''),
    seq          integer NOT NULL CHECK (seq >= 0),
    pass         bigint NOT NULL,
    rule         text NOT NULL,
    subject      text NOT NULL CHECK (subject <> ''),
    provider     text NOT NULL,
    sandbox      text NOT NULL,
    task         text NOT NULL,
    step         text NOT NULL CHECK (step IN ('fail', 'requeue', 'terminate')),
    reason       text NOT NULL,
    evidence     jsonb NOT NULL,
    row_only     boolean NOT NULL,
    outcome      text NOT NULL DEFAULT 'pending'
        CHECK (outcome IN ('pending', 'accepted', 'done', 'confirmed', 'withdrawn', 'failed')),
    detail       text NOT NULL DEFAULT '',
    attempts     integer NOT NULL DEFAULT 0,
    planned_at   timestamptz,
    claimed_at   timestamptz,
    claimed_by   text NOT NULL DEFAULT '',
    claim_ends   timestamptz,
    claim_epoch  bigint NOT NULL DEFAULT 0,
    acted_at     timestamptz,
    closed_at    timestamptz,
    next_attempt timestamptz,
    begun_at     timestamptz,
    begun_pass   bigint,
    begun_shared boolean NOT NULL DEFAULT false,
    CHECK ((closed_at IS NOT NULL) = (outcome IN ('done', 'confirmed', 'withdrawn', 'failed'))),
    CHECK ((seq = 0) = (remedy = id)),
    CHECK (step <> 'terminate' OR (provider <> '' AND sandbox <> ''))
);
CREATE UNIQUE INDEX actions_one_open ON sandkeeper.actions (subject, step)
    WHERE closed_at IS NULL AND step <> 'terminate';
CREATE UNIQUE INDEX actions_one_terminate ON sandkeeper.actions (provider, sandbox)
    WHERE closed_at IS NULL AND step = 'terminate';
CREATE INDEX actions_open ON sandkeeper.actions (planned_at, remedy, seq) WHERE closed_at IS NULL;
CREATE INDEX actions_remedy ON sandkeeper.actions (remedy, seq);
CREATE INDEX actions_begun ON sandkeeper.actions (begun_at) WHERE begun_at IS NOT NULL;
CREATE INDEX actions_begun_pass ON sandkeeper.actions (begun_pass) WHERE begun_pass IS NOT NULL;
CREATE INDEX actions_closed ON sandkeeper.actions (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX actions_subject ON sandkeeper.actions (subject);
CREATE INDEX actions_task ON sandkeeper.actions (task) WHERE task <> '';
CREATE INDEX actions_sandbox ON sandkeeper.actions (sandbox) WHERE sandbox <> '';

CREATE TABLE sandkeeper.sources (
    name         text PRIMARY KEY,
    trusted      boolean NOT NULL,
    reason       text NOT NULL,
    since        timestamptz,
    recovered_at timestamptz,
    last_trusted timestamptz
);

CREATE TABLE sandkeeper.templates (
    provider   text NOT NULL,
    name       text NOT NULL,
    state      text NOT NULL CHECK (state IN ('', 'active', 'inactive', 'building', 'failed', 'missing')),
    raw        text NOT NULL,
    error      text NOT NULL,
    last_start timestamptz,
    last_used  timestamptz,
    expires_at timestamptz,
    looked_at  timestamptz,
    PRIMARY KEY (provider, name)
);

-- What operators asked for. Nothing here is ever deleted before its retention ends:
-- a wish that was taken back has lifted_at, one that ran out has until in the past.
CREATE TABLE sandkeeper.modes (
    rule   text PRIMARY KEY,
    mode   text NOT NULL CHECK (mode IN ('off', 'observe')),
    author text NOT NULL CHECK (author <> ''),
    reason text NOT NULL CHECK (reason <> ''),
    at     timestamptz NOT NULL
);

CREATE TABLE sandkeeper.pauses (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope     text NOT NULL CHECK (scope = 'all' OR scope LIKE 'rule:_%' OR scope LIKE 'provider:_%'),
    author    text NOT NULL CHECK (author <> ''),
    reason    text NOT NULL CHECK (reason <> ''),
    at        timestamptz NOT NULL,
    until     timestamptz,
    lifted_at timestamptz
);
CREATE UNIQUE INDEX pauses_one_open ON sandkeeper.pauses (scope) WHERE lifted_at IS NULL;

CREATE TABLE sandkeeper.holds (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target    text NOT NULL CHECK (target LIKE 'task:_%' OR target LIKE 'sandbox:_%'
                                   OR target LIKE 'label:_%=%' OR target LIKE 'provider:_%'),
    author    text NOT NULL CHECK (author <> ''),
    reason    text NOT NULL CHECK (reason <> ''),
    at        timestamptz NOT NULL,
    until     timestamptz,
    lifted_at timestamptz
);
CREATE INDEX holds_open ON sandkeeper.holds (target) WHERE lifted_at IS NULL;

CREATE TABLE sandkeeper.releases (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    what     text NOT NULL CHECK (what <> ''),
    subjects text[] NOT NULL CHECK (cardinality(subjects) > 0),
    hash     text NOT NULL,
    author   text NOT NULL CHECK (author <> ''),
    reason   text NOT NULL CHECK (reason <> ''),
    at       timestamptz NOT NULL,
    until    timestamptz NOT NULL
);
CREATE INDEX releases_until ON sandkeeper.releases (until);

CREATE TABLE sandkeeper.breakers (
    rule      text PRIMARY KEY,
    opened_at timestamptz NOT NULL,
    subjects  text[] NOT NULL,
    hash      text NOT NULL
);

CREATE TABLE sandkeeper.timeline (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL,
    subject text NOT NULL,
    kind    text NOT NULL CHECK (
        kind IN ('seen', 'state', 'finding', 'resolved', 'action', 'probe', 'operator', 'source')),
    what    text NOT NULL
);
CREATE INDEX timeline_subject ON sandkeeper.timeline (subject, at DESC);
CREATE INDEX timeline_at ON sandkeeper.timeline (at);

-- Totals that outlive the rows that they counted.
CREATE TABLE sandkeeper.counters (
    name     text NOT NULL,
    rule     text NOT NULL,
    provider text NOT NULL,
    what     text NOT NULL,
    value    bigint NOT NULL,
    PRIMARY KEY (name, rule, provider, what)
);
