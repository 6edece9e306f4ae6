-- The tables of the coding-agent template (vercel-labs/coding-agent-template, commit e753e1b)
-- that have to do with tasks, as all of its own migrations leave them: a task belongs to a
-- user, statuses are plain text that only the program restricts, times have no time zone and
-- are in UTC, a deleted task stays with deleted_at, max_duration is minutes, and nothing but
-- the keys is indexed.

CREATE TABLE users (
    id            text NOT NULL,
    provider      text NOT NULL,
    external_id   text NOT NULL,
    access_token  text NOT NULL,
    refresh_token text,
    scope         text,
    username      text NOT NULL,
    email         text,
    name          text,
    avatar_url    text,
    created_at    timestamp NOT NULL DEFAULT now(),
    updated_at    timestamp NOT NULL DEFAULT now(),
    last_login_at timestamp NOT NULL DEFAULT now(),
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX ON users (provider, external_id);

CREATE TABLE tasks (
    id                   text NOT NULL,
    prompt               text NOT NULL,
    repo_url             text,
    selected_agent       text DEFAULT 'claude',
    status               text NOT NULL DEFAULT 'pending',
    progress             integer DEFAULT 0,
    error                text,
    branch_name          text,
    sandbox_url          text,
    created_at           timestamp NOT NULL DEFAULT now(),
    updated_at           timestamp NOT NULL DEFAULT now(),
    completed_at         timestamp,
    logs                 jsonb,
    selected_model       text,
    install_dependencies boolean DEFAULT false,
    max_duration         integer DEFAULT 5,
    mcp_server_ids       jsonb,
    user_id              text NOT NULL,
    deleted_at           timestamp,
    preview_url          text,
    pr_url               text,
    pr_number            integer,
    pr_status            text,
    pr_merge_commit_sha  text,
    keep_alive           boolean DEFAULT false,
    sandbox_id           text,
    agent_session_id     text,
    title                text,
    enable_browser       boolean DEFAULT false,
    PRIMARY KEY (id),
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE task_messages (
    id         text NOT NULL,
    task_id    text NOT NULL,
    role       text NOT NULL,
    content    text NOT NULL,
    created_at timestamp NOT NULL DEFAULT now(),
    PRIMARY KEY (id),
    FOREIGN KEY (task_id) REFERENCES tasks (id) ON DELETE CASCADE
);
