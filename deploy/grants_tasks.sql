-- The platform's side of sandkeeper's roles. Run it in the database of the platform, as a superuser or as the owner of
-- its tables who may create roles, and again after a change:
--
--   psql -v ON_ERROR_STOP=1 -1 -f deploy/grants_tasks.sql "$TASKS_ADMIN_URL"
--
-- sandkeeper_tasks   tasks.database of the keeper    may change the few columns of a task that a repair writes, and
--                                                    does not know the ledger
-- sandkeeper_keeper  where one login is for both     the same, beside what grants_ledger.sql lets it do
-- sandkeeper_reader  serve, plan, explain, report    reads, and writes nothing anywhere
--
-- They cannot log in. Give the keeper's connection to the tasks a login of its own. Who owns the tasks can have our own
-- write run what they planted: what runs as this login reaches no ledger.
--
--   CREATE ROLE sandkeeper_tasks_prod LOGIN PASSWORD '…' IN ROLE sandkeeper_tasks;
--
-- It names the tables and columns of OmoiOS. Another platform puts its own there: what `fail.set` and `requeue.set` of
-- the config write, and the status column. `sandkeeper check` says which grant is missing, in SQL, and what the role
-- may do beyond need.
--
-- Grants know columns, not rows: terminal_rows.sql, which is optional, also keeps the keeper
-- away from tasks that are over.

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['sandkeeper_tasks', 'sandkeeper_keeper', 'sandkeeper_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), wanted);
    END LOOP;
END
$$;

-- The platform's tables, here those of OmoiOS. Nobody may insert, delete or empty
-- anything there. Before PostgreSQL 15 everybody may also create tables in the schema
-- public: REVOKE CREATE ON SCHEMA public FROM PUBLIC ends that, for all roles at once.
GRANT USAGE ON SCHEMA public TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;

-- Of tasks all columns are read: the version of a row, which guards each write, can be had in
-- no other way. Keep keys and the like in tables of their own, which these roles never see.
GRANT SELECT ON public.tasks, public.sandbox_events TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;

-- Which pending tasks their project lets run by itself, and which specs have a sandbox. Only
-- the columns that are read: tickets and projects hold what sandkeeper need not see.
GRANT SELECT (id, project_id) ON public.tickets TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;
GRANT SELECT (id, autonomous_execution_enabled) ON public.projects TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;
GRANT SELECT (id, status) ON public.specs TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;

GRANT UPDATE (
    status,          -- fail, requeue
    error_message,   -- fail, requeue
    completed_at,    -- fail
    sandbox_id,      -- requeue
    conversation_id, -- requeue
    retry_count      -- requeue
) ON public.tasks TO sandkeeper_tasks, sandkeeper_keeper;

-- Only with `events.write: true`:
-- GRANT INSERT (id, sandbox_id, event_type, event_data, created_at, source) ON public.sandbox_events
--     TO sandkeeper_tasks, sandkeeper_keeper;

-- The coding-agent template instead: its fail writes more columns, and its activity is read
-- from the messages:
-- GRANT SELECT ON public.tasks TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;
-- GRANT SELECT (task_id, role, content) ON public.task_messages TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;
-- GRANT UPDATE (status, error, completed_at, updated_at, sandbox_id, sandbox_url, agent_session_id, logs)
--     ON public.tasks TO sandkeeper_tasks, sandkeeper_keeper;
