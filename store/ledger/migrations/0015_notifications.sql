-- What people are told of without an Alertmanager, one row for each receiver and thing that is wrong. What was told
-- last stands beside what is to be told, so that all replicas together say each once. A row goes when its end was told.
CREATE TABLE sandkeeper.notifications (
    receiver text NOT NULL,
    key      text NOT NULL,
    kind     text NOT NULL,
    severity text NOT NULL,
    title    text NOT NULL,
    words    text NOT NULL,
    since    timestamptz NOT NULL,
    version  text NOT NULL,
    told     text NOT NULL DEFAULT '',
    told_at  timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    next_at  timestamptz NOT NULL,
    error    text NOT NULL DEFAULT '',
    PRIMARY KEY (receiver, key)
);
