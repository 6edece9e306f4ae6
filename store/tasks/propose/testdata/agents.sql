-- A platform that nobody here knows: mixed case, statuses as texts, clocks without a zone, events by sandbox.
CREATE TABLE "AgentRun" (
    "id" text PRIMARY KEY, "orgId" text NOT NULL, "status" text NOT NULL DEFAULT 'queued', "sandboxId" text, "createdAt" timestamp NOT NULL,
    "startedAt" timestamp, "finishedAt" timestamp, "updatedAt" timestamp, "errorMessage" text, "timeoutSeconds" integer,
    "deadlineAt" timestamp, "snapshot" text);
CREATE INDEX ON "AgentRun" ("status");
INSERT INTO "AgentRun" ("id", "orgId", "status", "createdAt") SELECT i, 'o', s, now()
FROM unnest(ARRAY['queued', 'starting', 'running', 'needs_human', 'done', 'timed_out', 'a: "b" ${X}']) WITH ORDINALITY AS x (s, i);
CREATE TABLE run_events (
    id bigserial PRIMARY KEY, sandbox_id text NOT NULL, event_type text NOT NULL, created_at timestamptz NOT NULL, payload jsonb);
CREATE INDEX ON run_events (sandbox_id, created_at);
INSERT INTO run_events (sandbox_id, event_type, created_at) SELECT 'sb-1', t, now()
FROM unnest(ARRAY['agent.started', 'agent.heartbeat', 'agent.tool_use', 'agent.completed']) t;
CREATE TABLE users (id bigserial PRIMARY KEY, status text NOT NULL DEFAULT 'active', created_at timestamptz);
CREATE TABLE job_archive (id bigserial PRIMARY KEY, status text DEFAULT 'running', started_at timestamptz, created_at timestamptz);
