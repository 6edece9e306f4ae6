-- What silence is measured by: when the mark of activity changed last, the newest heartbeat and how far
-- it was from the one before, and how far apart heartbeats come here.
ALTER TABLE sandkeeper.task_states
    ADD mark_sum bigint NOT NULL DEFAULT 0,
    ADD mark_at  timestamptz,
    ADD beat_at  timestamptz,
    ADD beat_gap bigint NOT NULL DEFAULT 0; -- nanoseconds

ALTER TABLE sandkeeper.sources
    ADD beat bigint NOT NULL DEFAULT 0; -- nanoseconds
