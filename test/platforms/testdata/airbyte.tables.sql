-- Airbyte, the workloads of its configs database (airbytehq/airbyte-platform, airbyte-db).
CREATE TYPE workload_status AS ENUM ('pending', 'claimed', 'launched', 'running', 'success', 'failure', 'cancelled');
CREATE TYPE workload_type AS ENUM ('sync', 'check', 'discover', 'spec');
CREATE TABLE workload (
    id varchar(256) PRIMARY KEY, dataplane_id varchar(256), status workload_status NOT NULL, input_payload text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
    last_heartbeat_at timestamptz, workspace_id uuid, organization_id uuid, log_path text NOT NULL,
    dataplane_group varchar(256), mutex_key varchar(256), type workload_type NOT NULL, termination_source varchar,
    termination_reason text, auto_id uuid NOT NULL UNIQUE, deadline timestamptz, signal_input text, priority integer
);
CREATE TABLE workload_label (
    id uuid PRIMARY KEY, workload_id varchar(256) NOT NULL REFERENCES workload (id), key varchar(256) NOT NULL,
    value varchar(256) NOT NULL
);
CREATE INDEX ON workload (status); -- as check asks for
