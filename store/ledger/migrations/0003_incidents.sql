-- Verdicts, incidents and regrets; what operators ask for; notices to the platform; and
-- sums by the hour, for the numbers that are held against targets.

ALTER TABLE sandkeeper.actions
    ADD began      timestamptz,
    ADD signature  text NOT NULL DEFAULT '',
    ADD author     text NOT NULL DEFAULT '',
    ADD running    boolean NOT NULL DEFAULT false,
    ADD anyway     boolean NOT NULL DEFAULT false,
    ADD row_before jsonb,
    ADD asked_at   timestamptz,
    ADD asks       integer NOT NULL DEFAULT 0,
    DROP CONSTRAINT actions_step_check,
    ADD CONSTRAINT actions_step_check CHECK (
        step IN ('fail', 'requeue', 'terminate', 'quarantine', 'resume', 'restore', 'activate')),
    ADD CONSTRAINT actions_sandbox_check CHECK (
        step NOT IN ('quarantine', 'resume') OR (provider <> '' AND sandbox <> '')),
    ADD CONSTRAINT actions_activate_check CHECK (step <> 'activate' OR provider <> '');

-- The provider is asked again for what it accepted: asked_at is the newest time, asks counts.
UPDATE sandkeeper.actions SET asked_at = acted_at, asks = 1 WHERE acted_at IS NOT NULL AND closed_at IS NULL;

-- A step that ends, stops or wakes a sandbox is open once for that sandbox, whatever the
-- subject; a quarantine and the terminate that follows it are two such steps.
DROP INDEX sandkeeper.actions_one_open;
CREATE UNIQUE INDEX actions_one_open ON sandkeeper.actions (subject, step)
    WHERE closed_at IS NULL AND step NOT IN ('terminate', 'quarantine', 'resume');
CREATE UNIQUE INDEX actions_one_pause ON sandkeeper.actions (provider, sandbox, step)
    WHERE closed_at IS NULL AND step IN ('quarantine', 'resume');

ALTER TABLE sandkeeper.task_states
    ADD turns     timestamptz[],
    ADD recreated timestamptz,
    ADD late_sign timestamptz;

ALTER TABLE sandkeeper.sandboxes
    ADD worked_at timestamptz,
    ADD vitals    jsonb;

-- The open incident that a finding belongs to.
ALTER TABLE sandkeeper.findings ADD incident text NOT NULL DEFAULT '';

ALTER TABLE sandkeeper.timeline
    DROP CONSTRAINT timeline_kind_check,
    ADD CONSTRAINT timeline_kind_check CHECK (kind IN (
        'seen', 'state', 'finding', 'resolved', 'action', 'probe', 'operator', 'source', 'incident', 'regret'));

-- One row for each finding that came due. acted_at is when a step of ours repaired it;
-- failed_at when that step wrote the task's row.
CREATE TABLE sandkeeper.verdicts (
    number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule      text NOT NULL CHECK (rule <> ''),
    subject   text NOT NULL CHECK (subject <> ''),
    task      text NOT NULL,
    provider  text NOT NULL,
    sandbox   text NOT NULL,
    template  text NOT NULL,
    region    text NOT NULL,
    worker    text NOT NULL,
    error     text NOT NULL,
    signature text NOT NULL,
    reason    text NOT NULL,
    at        timestamptz NOT NULL,
    began     timestamptz,
    late_us   bigint NOT NULL,
    task_at   timestamptz,
    sign      timestamptz,
    attempt   bigint NOT NULL,
    enforced  boolean NOT NULL,
    cost      double precision NOT NULL,
    per_hour  double precision NOT NULL,
    acted_at  timestamptz,
    failed_at timestamptz,
    over      boolean NOT NULL DEFAULT false,
    regret_at timestamptz,
    regret    text NOT NULL DEFAULT ''
);
CREATE INDEX verdicts_at ON sandkeeper.verdicts (at);
CREATE INDEX verdicts_signature ON sandkeeper.verdicts (signature, at) WHERE signature <> '';
CREATE INDEX verdicts_subject ON sandkeeper.verdicts (subject, rule, number);
CREATE INDEX verdicts_task ON sandkeeper.verdicts (task) WHERE task <> '';
CREATE INDEX verdicts_sandbox ON sandkeeper.verdicts (sandbox) WHERE sandbox <> '';
CREATE INDEX verdicts_carried ON sandkeeper.verdicts (rule, number) INCLUDE (regret_at)
    WHERE enforced AND acted_at IS NOT NULL;
CREATE INDEX verdicts_regretted ON sandkeeper.verdicts (regret_at, number) WHERE regret_at IS NOT NULL;

-- Each rule that ever came to a verdict, and the newest verdict before it was armed last:
-- only later ones speak for or against it.
CREATE TABLE sandkeeper.armings (
    rule  text PRIMARY KEY,
    after bigint NOT NULL DEFAULT 0
);

CREATE TABLE sandkeeper.incidents (
    id           text PRIMARY KEY CHECK (id <> ''),
    signature    text NOT NULL CHECK (signature <> ''),
    rule         text NOT NULL,
    provider     text NOT NULL,
    template     text NOT NULL,
    error        text NOT NULL,
    cause        text NOT NULL,
    evidence     jsonb NOT NULL,
    opened_at    timestamptz NOT NULL,
    first_seen   timestamptz,
    last_seen    timestamptz,
    closed_at    timestamptz,
    count        integer NOT NULL,
    cost         double precision NOT NULL,
    released_at  timestamptz,
    released_by  text NOT NULL DEFAULT '',
    released_why text NOT NULL DEFAULT ''
);
CREATE INDEX incidents_open ON sandkeeper.incidents (opened_at, id) WHERE closed_at IS NULL;
CREATE INDEX incidents_closed ON sandkeeper.incidents (closed_at, id) WHERE closed_at IS NOT NULL;

-- What the platform is still to be told, and for a while what it was told.
CREATE TABLE sandkeeper.notices (
    action    text PRIMARY KEY,
    task      text NOT NULL,
    provider  text NOT NULL,
    sandbox   text NOT NULL,
    rule      text NOT NULL,
    step      text NOT NULL,
    outcome   text NOT NULL,
    reason    text NOT NULL,
    at        timestamptz NOT NULL,
    attempts  integer NOT NULL DEFAULT 0,
    next_at   timestamptz NOT NULL,
    error     text NOT NULL DEFAULT '',
    closed_at timestamptz
);
CREATE INDEX notices_due ON sandkeeper.notices (next_at) WHERE closed_at IS NULL;
CREATE INDEX notices_closed ON sandkeeper.notices (closed_at) WHERE closed_at IS NOT NULL;

-- Sums by the hour of what the totals have no time of.
CREATE TABLE sandkeeper.hours (
    hour  timestamptz NOT NULL,
    name  text NOT NULL,
    what  text NOT NULL,
    value bigint NOT NULL,
    PRIMARY KEY (hour, name, what)
);
