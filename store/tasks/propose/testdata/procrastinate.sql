-- Written by hand after the schema of Procrastinate 3.
CREATE TYPE procrastinate_job_status AS ENUM ('todo', 'doing', 'succeeded', 'failed', 'cancelled', 'aborting', 'aborted');
CREATE TYPE procrastinate_job_event_type AS ENUM ('deferred', 'started', 'deferred_for_retry', 'failed', 'succeeded', 'cancelled',
    'abort_requested', 'aborted', 'scheduled');
CREATE TABLE procrastinate_workers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, last_heartbeat timestamptz NOT NULL DEFAULT now());
CREATE TABLE procrastinate_jobs (
    id bigserial PRIMARY KEY, queue_name varchar(128) NOT NULL, task_name varchar(128) NOT NULL, priority integer DEFAULT 0 NOT NULL,
    lock text, queueing_lock text, args jsonb DEFAULT '{}' NOT NULL, status procrastinate_job_status DEFAULT 'todo' NOT NULL,
    scheduled_at timestamptz, attempts integer DEFAULT 0 NOT NULL, abort_requested boolean DEFAULT false NOT NULL,
    worker_id bigint REFERENCES procrastinate_workers (id) ON DELETE SET NULL);
CREATE TABLE procrastinate_events (
    id bigserial PRIMARY KEY, job_id bigint NOT NULL REFERENCES procrastinate_jobs ON DELETE CASCADE,
    type procrastinate_job_event_type, at timestamptz DEFAULT now());
CREATE TABLE procrastinate_periodic_defers (
    id bigserial PRIMARY KEY, task_name varchar(128) NOT NULL, defer_timestamp bigint,
    job_id bigint REFERENCES procrastinate_jobs (id));
