-- Daytona's own server, as its entities say (daytonaio/daytona, apps/api/src/sandbox/entities).
CREATE TYPE sandbox_state_enum AS ENUM ('creating', 'restoring', 'destroyed', 'destroying', 'started', 'stopped',
    'starting', 'stopping', 'error', 'build_failed', 'pending_build', 'building_snapshot', 'unknown', 'pulling_snapshot',
    'archived', 'archiving');
CREATE TYPE sandbox_desiredstate_enum AS ENUM ('destroyed', 'started', 'stopped', 'resized', 'archived');
CREATE TYPE sandbox_backupstate_enum AS ENUM ('None', 'Pending', 'InProgress', 'Completed', 'Error');
CREATE TABLE sandbox (
    "id" varchar PRIMARY KEY, "organizationId" uuid NOT NULL, "region" varchar NOT NULL DEFAULT 'us', "runnerId" uuid,
    "prevRunnerId" uuid, "state" sandbox_state_enum NOT NULL DEFAULT 'unknown',
    "desiredState" sandbox_desiredstate_enum NOT NULL DEFAULT 'started', "snapshot" varchar, "osUser" varchar NOT NULL,
    "errorReason" varchar, "env" jsonb NOT NULL DEFAULT '{}', "public" boolean NOT NULL DEFAULT false, "labels" jsonb,
    "backupState" sandbox_backupstate_enum NOT NULL DEFAULT 'None', "lastBackupAt" timestamptz,
    "cpu" integer NOT NULL DEFAULT 2, "mem" integer NOT NULL DEFAULT 4, "disk" integer NOT NULL DEFAULT 10,
    "createdAt" timestamptz NOT NULL DEFAULT now(), "updatedAt" timestamptz NOT NULL DEFAULT now(),
    "lastActivityAt" timestamptz, "autoStopInterval" integer NOT NULL DEFAULT 15,
    "autoArchiveInterval" integer NOT NULL DEFAULT 10080, "autoDeleteInterval" integer NOT NULL DEFAULT -1,
    "pending" boolean DEFAULT false, "authToken" varchar NOT NULL DEFAULT md5(random()::text)
);
CREATE INDEX sandbox_state_idx ON sandbox ("state");
