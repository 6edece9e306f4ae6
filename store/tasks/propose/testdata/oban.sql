-- Written by hand after Oban's migration 12.
CREATE TYPE oban_job_state AS ENUM ('available', 'suspended', 'scheduled', 'executing', 'retryable', 'completed', 'discarded', 'cancelled');
CREATE TABLE oban_jobs (
    id bigserial PRIMARY KEY, state oban_job_state NOT NULL DEFAULT 'available', queue text NOT NULL DEFAULT 'default',
    worker text NOT NULL, args jsonb NOT NULL DEFAULT '{}', errors jsonb[] NOT NULL DEFAULT '{}', attempt integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL DEFAULT 20, inserted_at timestamp NOT NULL DEFAULT timezone('UTC', now()),
    scheduled_at timestamp NOT NULL DEFAULT timezone('UTC', now()), attempted_at timestamp, completed_at timestamp,
    attempted_by text[], discarded_at timestamp, priority integer NOT NULL DEFAULT 0, tags text[] DEFAULT '{}', meta jsonb DEFAULT '{}',
    cancelled_at timestamp);
CREATE INDEX ON oban_jobs (state, queue, priority, scheduled_at, id);
CREATE UNLOGGED TABLE oban_peers (name text PRIMARY KEY, node text NOT NULL, started_at timestamp NOT NULL, expires_at timestamp NOT NULL);
