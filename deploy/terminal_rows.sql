-- Optional, after grants_tasks.sql: the database itself keeps the keeper's roles, sandkeeper_tasks and
-- sandkeeper_keeper, away from tasks that are over. Run it as the owner of the table, or as a superuser (PostgreSQL 14 or newer):
--
--   psql -v ON_ERROR_STOP=1 -1 -f deploy/terminal_rows.sql "$ADMIN_DATABASE_URL"
--
-- Without it the keeper's role may, by its grants, write the six columns of any row, and it is
-- sandkeeper's own statement that repeats the judged status, so that a finished task is never
-- written. With it a mistake in that statement, in the config, or somebody with the keeper's
-- password is refused as well: the keeper's role
--
--   * changes no row that is over, but for one that sandkeeper itself has failed, which it may
--     set back to a live status (`sandkeeper restore`);
--   * gives a row no status but a live one or `failed`: no task is completed or cancelled by it.
--
-- Why a trigger. Row-level security would have to be turned on for the whole table, and then
-- every other role sees no row until it has a policy. Column grants know columns and no values.
-- This trigger is asked about by a WHEN that is false for every other role, so that nothing
-- of the platform is called or slowed; nobody's rights change. Superusers are not held either.
-- Where neither role is there, as in a restored copy, the trigger does nothing.
--
-- The function is the table owner's and stands outside of the schema sandkeeper: it runs inside
-- of the platform's own updates, and whoever may replace it could run what he likes there.
--
-- The statuses are those of OmoiOS; put yours there. `sandkeeper check` says whether the trigger
-- is in force and whether its statuses are those of the config. To take it away:
--
--   DROP TRIGGER sandkeeper_guard ON public.tasks; DROP FUNCTION public.sandkeeper_refuses();

SET LOCAL lock_timeout = '3s'; -- rather try again than hold up the platform

CREATE OR REPLACE FUNCTION public.sandkeeper_refuses() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'sandkeeper may not change task % from % to %', OLD.id, OLD.status, NEW.status
        USING HINT = 'deploy/terminal_rows.sql says what it may do.';
END
$$;

CREATE OR REPLACE TRIGGER sandkeeper_guard
BEFORE UPDATE ON public.tasks
FOR EACH ROW
WHEN (
    (pg_has_role(current_user, to_regrole('sandkeeper_tasks'), 'USAGE') IS TRUE
        OR pg_has_role(current_user, to_regrole('sandkeeper_keeper'), 'USAGE') IS TRUE)
    AND current_setting('is_superuser') = 'off'
    AND (
        (NEW.status IN ('pending', 'assigned', 'claiming', 'running', 'pending_validation', 'validating',
            'needs_revision', 'needs_work', 'under_review', 'validation_in_progress', 'failed')) IS NOT TRUE
        OR (OLD.status IN ('pending', 'assigned', 'claiming', 'running', 'pending_validation', 'validating',
            'needs_revision', 'needs_work', 'under_review', 'validation_in_progress')) IS NOT TRUE
        AND NOT (
            OLD.status = 'failed' AND coalesce(OLD.error_message, '') LIKE '%[sandkeeper %' -- our own
            AND NEW.status <> 'failed'
        )
    )
)
EXECUTE FUNCTION public.sandkeeper_refuses();
