-- Woodpecker CI, as its models say (woodpecker-ci/woodpecker, server/model): times are seconds since 1970, 0 for none.
CREATE TABLE pipelines (
    id bigserial PRIMARY KEY, repo_id bigint, number bigint, author varchar(255), event varchar(255),
    status varchar(255), errors text, created bigint NOT NULL DEFAULT 0, updated bigint NOT NULL DEFAULT 0,
    started bigint, finished bigint, reviewer varchar(255), reviewed bigint
);
CREATE TABLE workflows (
    id bigserial PRIMARY KEY, pipeline_id bigint, pid integer, name varchar(255), state varchar(255), error text,
    started bigint, finished bigint, agent_id bigint, platform varchar(255), environ text, axis_id integer
);
CREATE TABLE steps (
    id bigserial PRIMARY KEY, uuid varchar(255), pipeline_id bigint, pid integer, ppid integer, name varchar(255),
    state varchar(255), error text, exit_code integer, started bigint, finished bigint, type varchar(255)
);
CREATE TABLE agents (
    id bigserial PRIMARY KEY, created bigint, updated bigint, name varchar(255), owner_id bigint, last_contact bigint,
    last_work bigint, backend varchar(100), capacity integer, no_schedule boolean
);
