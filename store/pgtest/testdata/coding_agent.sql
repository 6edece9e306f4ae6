-- The tables of the coding-agent template that the preset of that name knows, as its
-- migrations leave them: a task belongs to a user, statuses are plain text that only the
-- program restricts, times have no time zone and are in UTC, a deleted task stays with
-- deleted_at, and nothing but the key is indexed.
CREATE TABLE users (
    id          text PRIMARY KEY,
    provider    text NOT NULL,
    external_id text NOT NULL,
    username    text NOT NULL,
    created_at  timestamp NOT NULL DEFAULT now(),
    UNIQUE (provider, external_id)
);

CREATE TABLE tasks (
    id                   text PRIMARY KEY,
    user_id              text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    prompt               text NOT NULL,
    title                text,
    repo_url             text,
    selected_agent       text DEFAULT 'claude',
    selected_model       text,
    install_dependencies boolean DEFAULT false,
    max_duration         integer DEFAULT 300, -- minutes
    keep_alive           boolean DEFAULT false,
    status               text NOT NULL DEFAULT 'pending', -- processing, completed, error, stopped
    progress             integer DEFAULT 0,
    logs                 jsonb,
    error                text,
    branch_name          text,
    sandbox_id           text,
    agent_session_id     text,
    sandbox_url          text,
    preview_url          text,
    pr_url               text,
    pr_number            integer,
    pr_status            text,
    pr_merge_commit_sha  text,
    mcp_server_ids       jsonb,
    created_at           timestamp NOT NULL DEFAULT now(),
    updated_at           timestamp NOT NULL DEFAULT now(),
    completed_at         timestamp,
    deleted_at           timestamp
);

CREATE TABLE task_messages (
    id         text PRIMARY KEY,
    task_id    text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    role       text NOT NULL,
    content    text NOT NULL,
    created_at timestamp NOT NULL DEFAULT now()
);
