-- The tables of the omoios platform that the preset of that name maps.
CREATE TABLE tasks (
    id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    status          varchar(32) NOT NULL DEFAULT 'pending',
    task_type       varchar(64) NOT NULL DEFAULT 'implement_feature',
    sandbox_id      varchar(255),
    conversation_id varchar(255),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    started_at      timestamptz,
    completed_at    timestamptz,
    retry_count     integer NOT NULL DEFAULT 0,
    max_retries     integer NOT NULL DEFAULT 3,
    timeout_seconds integer,
    deadline_at     timestamptz,
    error_message   text
);

CREATE INDEX ix_tasks_status ON tasks (status);
CREATE INDEX ix_tasks_sandbox_id ON tasks (sandbox_id);

CREATE TABLE sandbox_events (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    sandbox_id varchar(255) NOT NULL,
    event_type varchar(100) NOT NULL,
    event_data jsonb NOT NULL DEFAULT '{}',
    source     varchar(50) NOT NULL DEFAULT 'agent',
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX ix_sandbox_events_sandbox_created ON sandbox_events (sandbox_id, created_at);
