-- Buildbot, as its model says (buildbot/buildbot, master/buildbot/db/model.py): times are seconds since 1970, results
-- are 0 success, 1 warnings, 2 failure, 3 skipped, 4 exception, 5 retry, 6 cancelled.
CREATE TABLE masters (id serial PRIMARY KEY, name text NOT NULL, active integer NOT NULL, last_active integer NOT NULL);
CREATE TABLE builders (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE workers (
    id serial PRIMARY KEY, name varchar(50) NOT NULL, info text NOT NULL DEFAULT '{}',
    paused smallint NOT NULL DEFAULT 0, graceful smallint NOT NULL DEFAULT 0
);
CREATE TABLE connected_workers (id serial PRIMARY KEY, masterid integer NOT NULL REFERENCES masters, workerid integer NOT NULL REFERENCES workers);
CREATE TABLE buildrequests (
    id serial PRIMARY KEY, buildsetid integer NOT NULL, builderid integer NOT NULL REFERENCES builders,
    priority integer NOT NULL DEFAULT 0, complete integer DEFAULT 0, results smallint, submitted_at integer NOT NULL,
    complete_at integer, waited_for smallint DEFAULT 0
);
CREATE TABLE buildrequest_claims (
    brid integer NOT NULL UNIQUE REFERENCES buildrequests ON DELETE CASCADE, masterid integer NOT NULL REFERENCES masters,
    claimed_at integer NOT NULL
);
CREATE TABLE builds (
    id serial PRIMARY KEY, number integer NOT NULL, builderid integer NOT NULL REFERENCES builders,
    buildrequestid integer NOT NULL REFERENCES buildrequests, workerid integer REFERENCES workers,
    masterid integer NOT NULL REFERENCES masters, started_at integer NOT NULL, complete_at integer,
    state_string text NOT NULL, results integer
);
CREATE TABLE steps (
    id serial PRIMARY KEY, number integer NOT NULL, name varchar(50) NOT NULL, buildid integer NOT NULL REFERENCES builds,
    started_at integer, complete_at integer, state_string text NOT NULL, results integer, urls_json text NOT NULL,
    hidden smallint NOT NULL DEFAULT 0
);
