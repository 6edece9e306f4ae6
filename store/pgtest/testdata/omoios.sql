-- The tables of OmoiOS (kivo360/OmoiOS, commit d65562ad) as all of its own migrations leave
-- them, of its 80 those that sandkeeper or its tests have to do with. What has no default here
-- has none there: the platform's program makes ids and times itself. Left out are keys to
-- tables that are not here (of users and organizations); indexes have the names that
-- PostgreSQL gives them.

CREATE TABLE projects (
    id                           varchar NOT NULL,
    organization_id              uuid,
    created_by                   uuid,
    name                         varchar(255) NOT NULL,
    description                  text,
    github_owner                 varchar(255),
    github_repo                  varchar(255),
    github_webhook_secret        varchar(255),
    github_connected             boolean NOT NULL DEFAULT false,
    default_phase_id             varchar(50) NOT NULL DEFAULT 'PHASE_BACKLOG',
    status                       varchar(50) NOT NULL DEFAULT 'active',
    settings                     jsonb,
    created_at                   timestamptz NOT NULL DEFAULT now(),
    updated_at                   timestamptz NOT NULL DEFAULT now(),
    autonomous_execution_enabled boolean NOT NULL DEFAULT false,
    PRIMARY KEY (id)
);

CREATE INDEX ON projects (autonomous_execution_enabled);
CREATE INDEX ON projects (created_at);
CREATE INDEX ON projects (created_by);
CREATE INDEX ON projects (name);
CREATE INDEX ON projects (organization_id);
CREATE INDEX ON projects (status);

CREATE TABLE specs (
    id                       varchar NOT NULL,
    project_id               varchar NOT NULL,
    title                    varchar(500) NOT NULL,
    description              text,
    status                   varchar(50) NOT NULL DEFAULT 'draft',
    phase                    varchar(50) NOT NULL DEFAULT 'Requirements',
    progress                 double precision NOT NULL DEFAULT 0,
    test_coverage            double precision NOT NULL DEFAULT 0,
    active_agents            integer NOT NULL DEFAULT 0,
    linked_tickets           integer NOT NULL DEFAULT 0,
    design                   jsonb,
    execution                jsonb,
    requirements_approved    boolean NOT NULL DEFAULT false,
    requirements_approved_at timestamptz,
    design_approved          boolean NOT NULL DEFAULT false,
    design_approved_at       timestamptz,
    created_at               timestamptz NOT NULL DEFAULT now(),
    updated_at               timestamptz NOT NULL DEFAULT now(),
    current_phase            varchar(50) NOT NULL DEFAULT 'explore',
    phase_data               jsonb NOT NULL DEFAULT '{}',
    session_transcripts      jsonb NOT NULL DEFAULT '{}',
    last_checkpoint_at       timestamptz,
    last_error               text,
    phase_attempts           jsonb NOT NULL DEFAULT '{}',
    embedding_vector         double precision[],
    content_hash             varchar(64),
    user_id                  uuid,
    branch_name              varchar(255),
    pull_request_url         varchar(500),
    pull_request_number      integer,
    spec_context             jsonb NOT NULL DEFAULT '{}',
    archived                 boolean NOT NULL DEFAULT false,
    archived_at              timestamptz,
    share_token              varchar(32),
    share_enabled            boolean NOT NULL DEFAULT false,
    share_view_count         integer NOT NULL DEFAULT 0,
    UNIQUE (share_token),
    PRIMARY KEY (id),
    FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE
);

CREATE INDEX ON specs (archived);
CREATE INDEX ON specs (current_phase);
CREATE INDEX ON specs (project_id, content_hash);
CREATE INDEX ON specs (project_id);
CREATE UNIQUE INDEX ON specs (share_token);
CREATE INDEX ON specs (status);
CREATE INDEX ON specs (user_id);

CREATE TABLE tickets (
    id                    varchar NOT NULL,
    title                 varchar(500) NOT NULL,
    description           text,
    phase_id              varchar(50) NOT NULL,
    status                varchar(50) NOT NULL,
    priority              varchar(20) NOT NULL,
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    context               jsonb,
    context_summary       text,
    is_blocked            boolean NOT NULL DEFAULT false,
    blocked_reason        varchar(100),
    blocked_at            timestamptz,
    approval_status       varchar(50) NOT NULL DEFAULT 'approved',
    approval_deadline_at  timestamptz,
    requested_by_agent_id varchar,
    rejection_reason      text,
    project_id            varchar,
    previous_phase_id     varchar(50),
    embedding_vector      double precision[],
    user_id               uuid,
    dependencies          jsonb,
    spec_id               varchar,
    PRIMARY KEY (id),
    FOREIGN KEY (spec_id) REFERENCES specs (id) ON DELETE SET NULL
);

CREATE INDEX ON tickets (project_id);
CREATE INDEX ON tickets (approval_deadline_at);
CREATE INDEX ON tickets (approval_status);
CREATE INDEX ON tickets (is_blocked);
CREATE INDEX ON tickets (phase_id);
CREATE INDEX ON tickets (previous_phase_id);
CREATE INDEX ON tickets (priority);
CREATE INDEX ON tickets (project_id);
CREATE INDEX ON tickets (requested_by_agent_id);
CREATE INDEX ON tickets (spec_id);
CREATE INDEX ON tickets (status);
CREATE INDEX ON tickets (user_id);

CREATE TABLE agents (
    id                             varchar NOT NULL,
    agent_type                     varchar(50) NOT NULL,
    phase_id                       varchar(50),
    status                         varchar(50) NOT NULL,
    last_heartbeat                 timestamptz,
    created_at                     timestamptz NOT NULL,
    capabilities                   varchar(100)[] NOT NULL,
    capacity                       integer NOT NULL,
    health_status                  varchar(50) NOT NULL,
    tags                           varchar(50)[],
    kept_alive_for_validation      boolean NOT NULL DEFAULT false,
    sequence_number                integer NOT NULL DEFAULT 0,
    last_expected_sequence         integer NOT NULL DEFAULT 0,
    consecutive_missed_heartbeats  integer NOT NULL DEFAULT 0,
    anomaly_score                  double precision,
    consecutive_anomalous_readings integer NOT NULL DEFAULT 0,
    updated_at                     timestamptz NOT NULL DEFAULT now(),
    agent_name                     varchar(255),
    crypto_public_key              text,
    crypto_identity_metadata       jsonb,
    metadata                       jsonb,
    registered_by                  varchar(255),
    PRIMARY KEY (id),
    CHECK (status IN ('SPAWNING', 'IDLE', 'RUNNING', 'DEGRADED', 'FAILED', 'QUARANTINED', 'TERMINATED'))
);

CREATE INDEX ON agents USING gin (capabilities);
CREATE INDEX ON agents USING gin (tags);
CREATE INDEX ON agents (agent_name);
CREATE INDEX ON agents (agent_type);
CREATE INDEX ON agents (anomaly_score);
CREATE INDEX ON agents (health_status);
CREATE INDEX ON agents (phase_id);
CREATE INDEX ON agents (status);

CREATE TABLE tasks (
    id                       varchar NOT NULL,
    ticket_id                varchar NOT NULL,
    phase_id                 varchar(50) NOT NULL,
    task_type                varchar(100) NOT NULL,
    description              text,
    priority                 varchar(20) NOT NULL,
    status                   varchar(50) NOT NULL,
    assigned_agent_id        varchar,
    conversation_id          varchar(255),
    result                   jsonb,
    error_message            text,
    created_at               timestamptz NOT NULL,
    started_at               timestamptz,
    completed_at             timestamptz,
    dependencies             jsonb,
    retry_count              integer NOT NULL DEFAULT 0,
    max_retries              integer NOT NULL DEFAULT 3,
    timeout_seconds          integer,
    validation_enabled       boolean NOT NULL DEFAULT false,
    validation_iteration     integer NOT NULL DEFAULT 0,
    last_validation_feedback text,
    review_done              boolean NOT NULL DEFAULT false,
    score                    double precision NOT NULL DEFAULT 0.0,
    deadline_at              timestamptz,
    parent_task_id           varchar,
    required_capabilities    jsonb,
    persistence_dir          varchar(500),
    monitoring_notes         text,
    discovery_impact         varchar(32),
    sandbox_id               varchar(255),
    title                    varchar(500),
    updated_at               timestamptz NOT NULL,
    embedding_vector         double precision[],
    execution_config         jsonb,
    synthesis_context        jsonb,
    owned_files              jsonb,
    PRIMARY KEY (id),
    FOREIGN KEY (parent_task_id) REFERENCES tasks (id) ON DELETE CASCADE,
    FOREIGN KEY (ticket_id) REFERENCES tickets (id) ON DELETE CASCADE
);

CREATE INDEX ON tasks USING gin (dependencies);
CREATE INDEX ON tasks (assigned_agent_id);
CREATE INDEX ON tasks (deadline_at);
CREATE INDEX ON tasks (parent_task_id);
CREATE INDEX ON tasks (phase_id);
CREATE INDEX ON tasks (priority);
CREATE INDEX ON tasks USING gin (required_capabilities);
CREATE INDEX ON tasks (sandbox_id);
CREATE INDEX ON tasks (score);
CREATE INDEX ON tasks (status);
CREATE INDEX ON tasks (ticket_id);

CREATE TABLE sandbox_events (
    id         varchar NOT NULL,
    sandbox_id varchar(100) NOT NULL,
    event_type varchar(100) NOT NULL,
    event_data jsonb,
    source     varchar(50) NOT NULL DEFAULT 'agent',
    created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
    spec_id    varchar,
    PRIMARY KEY (id),
    FOREIGN KEY (spec_id) REFERENCES specs (id) ON DELETE SET NULL
);

CREATE INDEX ON sandbox_events (created_at);
CREATE INDEX ON sandbox_events (event_type);
CREATE INDEX ON sandbox_events (sandbox_id);
CREATE INDEX ON sandbox_events (source);
CREATE INDEX ON sandbox_events (spec_id);
