-- Written by hand after the models of Django-Q2: a task is recorded when it is over, and waits elsewhere until then.
CREATE TABLE django_q_ormq (id serial PRIMARY KEY, key varchar(100) NOT NULL, payload text NOT NULL, lock timestamptz);
CREATE TABLE django_q_task (
    id varchar(32) PRIMARY KEY, name varchar(100) NOT NULL, func varchar(256) NOT NULL, hook varchar(256), args text, kwargs text,
    result text, "group" varchar(100), cluster varchar(100), started timestamptz NOT NULL, stopped timestamptz NOT NULL,
    success boolean NOT NULL, attempt_count integer NOT NULL);
CREATE TABLE django_q_schedule (
    id serial PRIMARY KEY, name varchar(100), func varchar(256) NOT NULL, schedule_type varchar(2) NOT NULL, next_run timestamptz);
