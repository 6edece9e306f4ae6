-- The platform's side of sandkeeper's roles,
-- for this config. Run it in the database of the platform, as a superuser or as the owner of its tables who may create
-- roles, and again after a change of the config.
--
-- sandkeeper_tasks   tasks.database of the keeper    changes what a repair writes, and does not know the ledger
-- sandkeeper_keeper  where one login is for both     the same
-- sandkeeper_reader  serve, plan, explain, report    reads, and writes nothing anywhere
--
-- They cannot log in. Give each a login of its own:
--   CREATE ROLE sandkeeper_tasks_prod LOGIN PASSWORD '…' IN ROLE sandkeeper_tasks;

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

GRANT USAGE ON SCHEMA "public" TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;

-- all columns: the version of a row, which guards each write, can be had in no other way
GRANT SELECT ON "public"."tasks" TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;

-- read beside the tasks
GRANT SELECT ("id", "task_id", "role", "content") ON "public"."task_messages" TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;

-- what fail and requeue set
GRANT UPDATE ("status", "agent_session_id", "completed_at", "error", "logs", "sandbox_id", "sandbox_url", "updated_at") ON "public"."tasks" TO sandkeeper_tasks, sandkeeper_keeper;
