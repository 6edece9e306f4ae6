-- Generated from pg-boss 10.4.2 (npm), src/plans.js: the tables that hold jobs.
CREATE SCHEMA pgboss;
CREATE TYPE pgboss.job_state AS ENUM ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
CREATE TABLE pgboss.queue (
    name text PRIMARY KEY, policy text, retry_limit int, retry_delay int, expire_seconds int, partition_name text,
    created_on timestamptz NOT NULL DEFAULT now(), updated_on timestamptz NOT NULL DEFAULT now());
CREATE TABLE pgboss.job (
    id uuid NOT NULL DEFAULT gen_random_uuid(), name text NOT NULL, priority integer NOT NULL DEFAULT 0, data jsonb,
    state pgboss.job_state NOT NULL DEFAULT 'created', retry_limit integer NOT NULL DEFAULT 2,
    retry_count integer NOT NULL DEFAULT 0, retry_delay integer NOT NULL DEFAULT 0, retry_backoff boolean NOT NULL DEFAULT false,
    start_after timestamptz NOT NULL DEFAULT now(), started_on timestamptz, singleton_key text,
    singleton_on timestamp without time zone, expire_in interval NOT NULL DEFAULT interval '15 minutes',
    created_on timestamptz NOT NULL DEFAULT now(), completed_on timestamptz,
    keep_until timestamptz NOT NULL DEFAULT now() + interval '14 days', output jsonb, dead_letter text, policy text
) PARTITION BY LIST (name);
ALTER TABLE pgboss.job ADD PRIMARY KEY (name, id);
CREATE TABLE pgboss.archive (LIKE pgboss.job);
ALTER TABLE pgboss.archive ADD PRIMARY KEY (name, id);
