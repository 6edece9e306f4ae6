-- The ledger's side of sandkeeper's roles. Run it in the database of the ledger, which is best one of its own, as a
-- superuser or as somebody who may create roles, before or after `sandkeeper migrate`, and again after a change:
--
--   psql -v ON_ERROR_STOP=1 -1 -f deploy/grants_ledger.sql "$LEDGER_ADMIN_URL"
--
-- grants_tasks.sql is the other side, in the database of the platform. Both may be the same database.
--
-- sandkeeper_owner   migrate                      owns the schema sandkeeper, knows no task
-- sandkeeper_keeper  run, once, check,            may change the ledger's rows
--                    the operator's verbs
-- sandkeeper_reader  serve, plan, explain, report reads, and writes nothing anywhere
--
-- They cannot log in. Give each a login of its own, here for the keeper:
--
--   CREATE ROLE sandkeeper_prod LOGIN PASSWORD '…' IN ROLE sandkeeper_keeper;
--
-- The login of migrate needs one line more, so that the owner owns what it makes; that of the
-- reader has one for what PostgreSQL lets everybody do, as temporary tables:
--
--   CREATE ROLE sandkeeper_migrate LOGIN PASSWORD '…' IN ROLE sandkeeper_owner;
--   ALTER ROLE sandkeeper_migrate SET role = 'sandkeeper_owner';
--   CREATE ROLE sandkeeper_page LOGIN PASSWORD '…' IN ROLE sandkeeper_reader;
--   ALTER ROLE sandkeeper_page SET default_transaction_read_only = on;

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['sandkeeper_owner', 'sandkeeper_keeper', 'sandkeeper_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), wanted);
    END LOOP;
END
$$;

-- Only a superuser can hand things to a role without being a member of it.
DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'sandkeeper_owner', 'MEMBER') THEN
        GRANT sandkeeper_owner TO CURRENT_USER;
    END IF;
END
$$;

CREATE SCHEMA IF NOT EXISTS sandkeeper AUTHORIZATION sandkeeper_owner;

-- What another role has migrated before becomes the owner's, else a later migration of the
-- owner could not change it. A sequence of a column follows its table.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER SCHEMA %I OWNER TO sandkeeper_owner', nspname)
        FROM pg_namespace WHERE nspname = 'sandkeeper' AND nspowner <> 'sandkeeper_owner'::regrole
        UNION ALL
        SELECT format('ALTER TABLE %s OWNER TO sandkeeper_owner', c.oid::regclass)
        FROM pg_class AS c
        WHERE c.relnamespace = 'sandkeeper'::regnamespace AND c.relowner <> 'sandkeeper_owner'::regrole
          AND (c.relkind IN ('r', 'p', 'v', 'm') OR c.relkind = 'S' AND NOT EXISTS (
              SELECT FROM pg_depend AS d
              WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')
                AND d.refclassid = 'pg_class'::regclass))
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO sandkeeper_owner', p.oid::regprocedure)
        FROM pg_proc AS p
        WHERE p.pronamespace = 'sandkeeper'::regnamespace AND p.proowner <> 'sandkeeper_owner'::regrole
        UNION ALL
        SELECT format('ALTER TYPE %s OWNER TO sandkeeper_owner', t.oid::regtype)
        FROM pg_type AS t
        WHERE t.typnamespace = 'sandkeeper'::regnamespace AND t.typowner <> 'sandkeeper_owner'::regrole
          AND t.typtype IN ('e', 'd')
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$;

-- The ledger and the tables of its jobs, those that are there and those that a later
-- migration makes.
GRANT USAGE ON SCHEMA sandkeeper TO sandkeeper_keeper, sandkeeper_reader;

GRANT SELECT ON ALL TABLES IN SCHEMA sandkeeper TO sandkeeper_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE sandkeeper_owner IN SCHEMA sandkeeper
    GRANT SELECT ON TABLES TO sandkeeper_reader;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sandkeeper TO sandkeeper_keeper;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA sandkeeper TO sandkeeper_keeper;
ALTER DEFAULT PRIVILEGES FOR ROLE sandkeeper_owner IN SCHEMA sandkeeper
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO sandkeeper_keeper;
ALTER DEFAULT PRIVILEGES FOR ROLE sandkeeper_owner IN SCHEMA sandkeeper
    GRANT USAGE ON SEQUENCES TO sandkeeper_keeper;

-- But for the record: the timeline only grows, what was asked for stays as it was, and what became of an
-- action is not changed. `migrate` makes this function, and has called it once.
DO $$
BEGIN
    IF to_regprocedure('sandkeeper.keep_record()') IS NOT NULL THEN
        PERFORM sandkeeper.keep_record();
    END IF;
END
$$;
