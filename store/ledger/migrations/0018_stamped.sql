-- When something began and ended is said by the database, and what was wrong stays wrong: who has the keeper's
-- password can date no action back, take none out of the budgets, and forgive no false positive unseen.

-- Only where the record is kept, for tests have a clock of their own.
CREATE FUNCTION sandkeeper.stamped() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    keeps interval := (SELECT c.keeps FROM sandkeeper.timeline_chain AS c);
    began boolean := NEW.begun_at IS NOT NULL;
    ended boolean := NEW.closed_at IS NOT NULL;
BEGIN
    IF keeps IS NULL THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        began := began AND OLD.begun_at IS NULL;
        -- A budget comes back with what was withdrawn at its first attempt, and so is over.
        IF OLD.begun_at IS NOT NULL AND (NEW.begun_at, NEW.begun_pass, NEW.begun_shared)
            IS DISTINCT FROM (OLD.begun_at, OLD.begun_pass, OLD.begun_shared)
            AND NOT (NEW.begun_at IS NULL AND NEW.outcome = 'withdrawn' AND OLD.attempts <= 1
                AND OLD.first_acted_at IS NULL AND NEW.first_acted_at IS NULL) THEN
            RAISE EXCEPTION 'action % was begun: it stays in the budgets', OLD.id;
        END IF;
        IF NEW.attempts < OLD.attempts OR OLD.first_acted_at IS DISTINCT FROM NEW.first_acted_at
            AND OLD.first_acted_at IS NOT NULL THEN
            RAISE EXCEPTION 'action % was tried: that stays on record', OLD.id;
        END IF;
    END IF;
    IF began THEN
        NEW.begun_at := clock_timestamp();
    END IF;
    IF ended THEN
        NEW.closed_at := clock_timestamp();
    END IF;
    RETURN NEW;
END
$$;
-- After actions_stay, for triggers run in the order of their names.
CREATE TRIGGER actions_stay_stamped BEFORE INSERT OR UPDATE ON sandkeeper.actions
    FOR EACH ROW EXECUTE FUNCTION sandkeeper.stamped();

-- A verdict that was carried out, or wrong, stays so, and is deleted only when it is old.
CREATE FUNCTION sandkeeper.verdict_stays() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.regret_at IS NOT NULL AND (NEW.regret_at, NEW.regret) IS DISTINCT FROM (OLD.regret_at, OLD.regret)
        OR OLD.acted_at IS NOT NULL AND NEW.acted_at IS DISTINCT FROM OLD.acted_at
        OR OLD.failed_at IS NOT NULL AND NEW.failed_at IS DISTINCT FROM OLD.failed_at
        OR OLD.enforced AND NOT NEW.enforced OR OLD.over AND NOT NEW.over THEN
        RAISE EXCEPTION 'verdict % stays on record as it is', OLD.number;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER verdicts_stay BEFORE UPDATE ON sandkeeper.verdicts
    FOR EACH ROW EXECUTE FUNCTION sandkeeper.verdict_stays();

-- The time of a new verdict is a pass's own; one that is older than any pass may be would be deleted at once.
CREATE FUNCTION sandkeeper.verdict_dated() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.at < now() - interval '1 hour' AND (SELECT c.keeps FROM sandkeeper.timeline_chain AS c) IS NOT NULL THEN
        NEW.at := now();
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER verdicts_dated BEFORE INSERT ON sandkeeper.verdicts
    FOR EACH ROW EXECUTE FUNCTION sandkeeper.verdict_dated();
CREATE TRIGGER verdicts_kept BEFORE DELETE ON sandkeeper.verdicts
    FOR EACH ROW EXECUTE FUNCTION sandkeeper.kept('at');

-- What a rule got wrong is forgiven only beside a row of modes that says who asked for it: those are never deleted.
CREATE FUNCTION sandkeeper.forgiven() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (SELECT c.keeps FROM sandkeeper.timeline_chain AS c) IS NOT NULL
        AND NEW.after <> (CASE TG_OP WHEN 'UPDATE' THEN OLD.after ELSE 0 END)
        AND NOT EXISTS (SELECT FROM sandkeeper.modes AS m
            WHERE m.rule = NEW.rule AND m.mode = 'config' AND m.xmin = pg_current_xact_id()::xid) THEN
        RAISE EXCEPTION 'the false positives of rule % stay: no mode was asked for', NEW.rule;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER armings_forgiven BEFORE INSERT OR UPDATE ON sandkeeper.armings
    FOR EACH ROW EXECUTE FUNCTION sandkeeper.forgiven();

ALTER FUNCTION sandkeeper.keep_record() RENAME TO keep_record_before;
CREATE FUNCTION sandkeeper.keep_record() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    writer text;
BEGIN
    PERFORM sandkeeper.keep_record_before();
    FOR writer IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid = 'sandkeeper.timeline'::regclass AND a.grantee <> c.relowner AND a.privilege_type = 'INSERT'
    LOOP
        EXECUTE format('REVOKE UPDATE, TRUNCATE ON sandkeeper.verdicts FROM %s', writer);
        EXECUTE format('GRANT UPDATE (acted_at, enforced, failed_at, over, regret_at, regret) ON sandkeeper.verdicts TO %s',
            writer);
        EXECUTE format('REVOKE DELETE, TRUNCATE ON sandkeeper.armings FROM %s', writer);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sandkeeper.keep_record FROM PUBLIC;
SELECT sandkeeper.keep_record();
