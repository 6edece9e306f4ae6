-- Windmill, as its migrations leave the tables of jobs (windmill-labs/windmill, backend/migrations).
CREATE TYPE job_kind AS ENUM ('script', 'preview', 'flow', 'dependencies', 'flowpreview', 'script_hub', 'identity',
    'flowdependencies', 'http', 'graphql', 'postgresql', 'noop', 'appdependencies', 'deploymentcallback',
    'singlestepflow', 'flowscript', 'flownode', 'appscript', 'aiagent');
CREATE TYPE job_status AS ENUM ('success', 'failure', 'canceled', 'skipped');
CREATE TABLE v2_job (
    id uuid PRIMARY KEY, tag varchar(50) NOT NULL DEFAULT 'other', workspace_id varchar(100) NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), created_by varchar(255) NOT NULL DEFAULT 'missing',
    kind job_kind NOT NULL DEFAULT 'script', runnable_path varchar(255), parent_job uuid,
    same_worker boolean NOT NULL DEFAULT false, timeout integer, priority smallint, args jsonb
);
CREATE TABLE v2_job_queue (
    id uuid PRIMARY KEY, workspace_id varchar(50) NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz, scheduled_for timestamptz NOT NULL, running boolean NOT NULL DEFAULT false,
    canceled_by varchar(255), canceled_reason text, suspend integer NOT NULL DEFAULT 0, suspend_until timestamptz,
    tag varchar(255) NOT NULL DEFAULT 'other', priority smallint, worker varchar(255), extras jsonb
);
CREATE TABLE v2_job_runtime (
    id uuid PRIMARY KEY REFERENCES v2_job_queue (id) ON DELETE CASCADE, ping timestamptz, memory_peak integer
);
CREATE TABLE v2_job_completed (
    id uuid PRIMARY KEY, workspace_id varchar(50) NOT NULL, duration_ms bigint NOT NULL, result jsonb,
    deleted boolean NOT NULL DEFAULT false, canceled_by varchar(50), canceled_reason text, started_at timestamptz,
    memory_peak integer, status job_status NOT NULL, completed_at timestamptz NOT NULL, worker varchar(255)
);
CREATE TABLE zombie_job_counter (job_id uuid PRIMARY KEY REFERENCES v2_job (id) ON DELETE CASCADE, counter integer NOT NULL DEFAULT 0);
CREATE TABLE worker_ping (
    worker varchar(255) PRIMARY KEY, worker_instance varchar(255) NOT NULL, ping_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz NOT NULL DEFAULT now(), ip varchar(50) NOT NULL DEFAULT 'NO IP',
    jobs_executed integer NOT NULL DEFAULT 0, worker_group varchar(255) NOT NULL DEFAULT 'default',
    current_job_id uuid, current_job_workspace_id varchar(50)
);
