-- Hatchet, its second engine (hatchet-dev/hatchet, sql/schema/v1-core.sql): a task is its id and its time.
CREATE TYPE v1_sticky_strategy AS ENUM ('NONE', 'SOFT', 'HARD');
CREATE TYPE v1_task_initial_state AS ENUM ('QUEUED', 'CANCELLED', 'SKIPPED', 'FAILED');
CREATE TYPE v1_task_event_type AS ENUM ('COMPLETED', 'FAILED', 'CANCELLED', 'SIGNAL_CREATED', 'SIGNAL_COMPLETED');
CREATE TABLE "Worker" (
    "id" uuid PRIMARY KEY, "createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "deletedAt" timestamp(3), "tenantId" uuid NOT NULL,
    "lastHeartbeatAt" timestamp(3), "name" text NOT NULL, "isActive" boolean NOT NULL DEFAULT false,
    "isPaused" boolean NOT NULL DEFAULT false, "maxRuns" integer NOT NULL DEFAULT 100
);
CREATE TABLE v1_task (
    id bigint GENERATED ALWAYS AS IDENTITY, inserted_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
    tenant_id uuid NOT NULL, queue text NOT NULL, action_id text NOT NULL, step_id uuid NOT NULL,
    step_readable_id text NOT NULL, workflow_id uuid NOT NULL, workflow_run_id uuid NOT NULL,
    schedule_timeout text NOT NULL, step_timeout text, priority integer DEFAULT 1, sticky v1_sticky_strategy NOT NULL,
    desired_worker_id uuid, external_id uuid NOT NULL, display_name text NOT NULL, input jsonb NOT NULL,
    retry_count integer NOT NULL DEFAULT 0, internal_retry_count integer NOT NULL DEFAULT 0,
    app_retry_count integer NOT NULL DEFAULT 0, initial_state v1_task_initial_state NOT NULL DEFAULT 'QUEUED',
    PRIMARY KEY (id, inserted_at)
) PARTITION BY RANGE (inserted_at);
CREATE TABLE v1_task_all PARTITION OF v1_task DEFAULT;
CREATE TABLE v1_task_event (
    id bigint GENERATED ALWAYS AS IDENTITY, tenant_id uuid NOT NULL, task_id bigint NOT NULL,
    task_inserted_at timestamptz NOT NULL, retry_count integer NOT NULL, event_type v1_task_event_type NOT NULL,
    event_key text, created_at timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, data jsonb,
    PRIMARY KEY (task_id, task_inserted_at, id)
) PARTITION BY RANGE (task_inserted_at);
CREATE TABLE v1_task_event_all PARTITION OF v1_task_event DEFAULT;
CREATE TABLE v1_queue_item (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id uuid NOT NULL, queue text NOT NULL,
    task_id bigint NOT NULL, task_inserted_at timestamptz NOT NULL, external_id uuid NOT NULL, action_id text NOT NULL,
    step_id uuid NOT NULL, workflow_id uuid NOT NULL, workflow_run_id uuid NOT NULL, schedule_timeout_at timestamp(3),
    step_timeout text, priority integer NOT NULL DEFAULT 1, sticky v1_sticky_strategy NOT NULL, desired_worker_id uuid,
    retry_count integer NOT NULL DEFAULT 0
);
CREATE TABLE v1_task_runtime (
    task_id bigint NOT NULL, task_inserted_at timestamptz NOT NULL, retry_count integer NOT NULL, worker_id uuid,
    tenant_id uuid NOT NULL, timeout_at timestamp(3) NOT NULL, evicted_at timestamptz,
    PRIMARY KEY (task_id, task_inserted_at, retry_count)
);
CREATE TABLE v1_retry_queue_item (
    task_id bigint NOT NULL, task_inserted_at timestamptz NOT NULL, task_retry_count integer NOT NULL,
    retry_after timestamptz NOT NULL, tenant_id uuid NOT NULL, PRIMARY KEY (task_id, task_inserted_at, task_retry_count)
);
