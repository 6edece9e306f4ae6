-- The record is kept: lines of the timeline hang together, and what was settled or asked for is
-- neither changed nor deleted before its time.

-- One row. keeps is the least that is kept, whatever retention a config says; null for no bound.
-- Lines up to began are older than the chain. What retention deleted ended with purged_link.
CREATE TABLE sandkeeper.timeline_chain (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    keeps       interval DEFAULT '1 day',
    began       bigint NOT NULL,
    purged_link bigint NOT NULL DEFAULT 0,
    purged_hash bytea NOT NULL DEFAULT '',
    purged      bigint NOT NULL DEFAULT 0,
    purged_at   timestamptz
);
INSERT INTO sandkeeper.timeline_chain (began) SELECT coalesce(max(number), 0) FROM sandkeeper.timeline;

-- The lines that one statement added. hash is of the link before and of sums, one for each line.
CREATE TABLE sandkeeper.timeline_links (
    id      bigint PRIMARY KEY,
    numbers bigint[] NOT NULL,
    sums    bytea[] NOT NULL,
    hash    bytea NOT NULL
);

CREATE FUNCTION sandkeeper.timeline_sum(number bigint, at timestamptz, subject text, kind text, what text)
RETURNS bytea LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT sha256(convert_to(number || ' ' || round(extract(epoch FROM at) * 1000000)::bigint || ' ' ||
        octet_length(convert_to(subject, 'UTF8')) || ':' || subject || octet_length(kind) || ':' || kind || what, 'UTF8'))
$$;

-- Lines are linked one statement after the other: the lock lasts until the transaction ends, so
-- transactions write their lines last.
CREATE FUNCTION sandkeeper.timeline_link() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    chain sandkeeper.timeline_chain;
    head  sandkeeper.timeline_links;
BEGIN
    IF NOT EXISTS (SELECT FROM added) THEN
        RETURN NULL;
    END IF;
    SELECT * INTO STRICT chain FROM sandkeeper.timeline_chain FOR UPDATE;
    SELECT * INTO head FROM sandkeeper.timeline_links ORDER BY id DESC LIMIT 1;
    INSERT INTO sandkeeper.timeline_links (id, numbers, sums, hash)
    SELECT coalesce(head.id, chain.purged_link) + 1, array_agg(s.number ORDER BY s.number),
           array_agg(s.sum ORDER BY s.number),
           sha256(coalesce(head.hash, chain.purged_hash) || string_agg(s.sum, ''::bytea ORDER BY s.number))
    FROM (SELECT a.number, sandkeeper.timeline_sum(a.number, a.at, a.subject, a.kind, a.what) AS sum FROM added AS a) AS s;
    RETURN NULL;
END
$$;
CREATE TRIGGER timeline_link AFTER INSERT ON sandkeeper.timeline
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sandkeeper.timeline_link();

-- Deletes lines that are older than the given time and than what is kept at least: those from
-- before the chain, then whole links from its beginning. Returns how many lines it deleted.
CREATE FUNCTION sandkeeper.purge_timeline(before timestamptz, batch integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    chain   sandkeeper.timeline_chain;
    link    sandkeeper.timeline_links;
    deleted bigint;
BEGIN
    SELECT * INTO STRICT chain FROM sandkeeper.timeline_chain FOR UPDATE;
    before := LEAST(before, now() - chain.keeps);
    DELETE FROM sandkeeper.timeline WHERE number IN (
        SELECT number FROM sandkeeper.timeline WHERE number <= chain.began AND at < before LIMIT batch);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    WHILE deleted < batch LOOP
        SELECT * INTO link FROM sandkeeper.timeline_links ORDER BY id LIMIT 1;
        EXIT WHEN NOT FOUND OR EXISTS (
            SELECT FROM sandkeeper.timeline AS t WHERE t.number = ANY (link.numbers) AND t.at >= before);
        DELETE FROM sandkeeper.timeline AS t WHERE t.number = ANY (link.numbers);
        DELETE FROM sandkeeper.timeline_links AS l WHERE l.id = link.id;
        UPDATE sandkeeper.timeline_chain SET purged_link = link.id, purged_hash = link.hash,
            purged = purged + cardinality(link.numbers), purged_at = now();
        deleted := deleted + cardinality(link.numbers);
    END LOOP;
    RETURN deleted;
END
$$;
REVOKE ALL ON FUNCTION sandkeeper.purge_timeline, sandkeeper.timeline_link FROM PUBLIC;

-- What became of an action is not changed any more.
CREATE FUNCTION sandkeeper.stays() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'action % was settled: what became of it stays on record', OLD.id;
END
$$;
CREATE TRIGGER actions_stay BEFORE UPDATE ON sandkeeper.actions
    FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL) EXECUTE FUNCTION sandkeeper.stays();

-- Only what ended long enough ago is deleted. The argument is the column that says when it ended.
CREATE FUNCTION sandkeeper.kept() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    keeps interval := (SELECT c.keeps FROM sandkeeper.timeline_chain AS c);
    ended timestamptz := (to_jsonb(OLD) ->> TG_ARGV[0])::timestamptz;
BEGIN
    IF keeps IS NOT NULL AND (ended IS NULL OR ended > now() - keeps) THEN
        RAISE EXCEPTION 'a row of % stays on record: it has not ended more than % ago', TG_RELID::regclass, keeps;
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER actions_kept BEFORE DELETE ON sandkeeper.actions
    FOR EACH ROW EXECUTE FUNCTION sandkeeper.kept('closed_at');
CREATE TRIGGER holds_kept BEFORE DELETE ON sandkeeper.holds FOR EACH ROW EXECUTE FUNCTION sandkeeper.kept('until');
CREATE TRIGGER pauses_kept BEFORE DELETE ON sandkeeper.pauses FOR EACH ROW EXECUTE FUNCTION sandkeeper.kept('until');
CREATE TRIGGER releases_kept BEFORE DELETE ON sandkeeper.releases FOR EACH ROW EXECUTE FUNCTION sandkeeper.kept('until');

-- Takes from all who write the ledger, and are not its owner, what the record has to be kept from.
-- deploy/grants.sql calls it again after its grants.
CREATE FUNCTION sandkeeper.keep_record() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    writer text;
BEGIN
    FOR writer IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid = 'sandkeeper.timeline'::regclass AND a.grantee <> c.relowner AND a.privilege_type = 'INSERT'
    LOOP
        EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON sandkeeper.timeline, sandkeeper.modes FROM %s', writer);
        EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON sandkeeper.timeline_links, sandkeeper.timeline_chain '
            'FROM %s', writer);
        EXECUTE format('REVOKE UPDATE, TRUNCATE ON sandkeeper.releases, sandkeeper.holds, sandkeeper.pauses, '
            'sandkeeper.actions FROM %s', writer);
        EXECUTE format('GRANT UPDATE (lifted_at, lifted_by, lifted_why, lift_seal) ON sandkeeper.holds, sandkeeper.pauses '
            'TO %s', writer);
        EXECUTE format('GRANT UPDATE (seal) ON sandkeeper.modes TO %s', writer);
        EXECUTE format('GRANT UPDATE (outcome, detail, evidence, attempts, claimed_at, claimed_by, claim_ends, '
            'claim_epoch, acted_at, first_acted_at, asked_at, asks, closed_at, next_attempt, begun_at, begun_pass, '
            'begun_shared, row_before) ON sandkeeper.actions TO %s', writer);
        EXECUTE format('GRANT EXECUTE ON FUNCTION sandkeeper.purge_timeline TO %s', writer);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sandkeeper.keep_record FROM PUBLIC;
SELECT sandkeeper.keep_record();
