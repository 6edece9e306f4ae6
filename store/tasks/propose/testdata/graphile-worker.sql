-- Generated from graphile-worker 0.17.3 (npm), dist/generated/sql.js, as migration 19 leaves them: the tables of jobs.
CREATE SCHEMA graphile_worker;
CREATE TABLE graphile_worker._private_tasks (
    id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, identifier text NOT NULL UNIQUE CHECK (length(identifier) <= 128));
CREATE TABLE graphile_worker._private_job_queues (
    id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, queue_name text NOT NULL UNIQUE, locked_at timestamptz, locked_by text,
    is_available boolean GENERATED ALWAYS AS ((locked_at IS NULL)) STORED NOT NULL);
CREATE TABLE graphile_worker._private_jobs (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, job_queue_id int, task_id int NOT NULL,
    payload json DEFAULT '{}'::json NOT NULL, priority smallint DEFAULT 0 NOT NULL, run_at timestamptz DEFAULT now() NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL, max_attempts smallint DEFAULT 25 NOT NULL CHECK (max_attempts >= 1), last_error text,
    created_at timestamptz DEFAULT now() NOT NULL, updated_at timestamptz DEFAULT now() NOT NULL,
    key text UNIQUE CHECK (length(key) > 0 AND length(key) <= 512), locked_at timestamptz, locked_by text,
    revision integer DEFAULT 0 NOT NULL, flags jsonb,
    is_available boolean GENERATED ALWAYS AS (((locked_at IS NULL) AND (attempts < max_attempts))) STORED NOT NULL);
ALTER TABLE graphile_worker._private_jobs ENABLE ROW LEVEL SECURITY;
