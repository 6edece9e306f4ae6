-- In which way an action came to its outcome, and what holds one that was left open: as facts, where only the words of its
-- detail said them. Of what is closed, only what reports read; of what is open, what the page shows.
ALTER TABLE sandkeeper.actions ADD COLUMN how text NOT NULL DEFAULT '';
ALTER TABLE sandkeeper.actions ADD COLUMN waits_for text[] NOT NULL DEFAULT '{}';

-- What was settled stays on record as it is: this adds what its own words say.
ALTER TABLE sandkeeper.actions DISABLE TRIGGER actions_stay;
UPDATE sandkeeper.actions AS a SET how = old.how
FROM (VALUES ('refused', 'refused by the provider'),
             ('adopted', 'is being deleted already, and sandkeeper had not asked for it'),
             ('unsure', 'is being deleted already, and whether an earlier attempt asked for it is not known'),
             ('anew', 'the task has begun anew since it was planned and tried'),
             ('taken-back', 'by ')) AS old (how, words)
WHERE starts_with(a.detail, old.words)
  AND CASE old.how WHEN 'refused' THEN a.outcome = 'pending'
                   WHEN 'anew' THEN a.outcome = 'withdrawn' AND a.detail = old.words
                   WHEN 'taken-back' THEN a.outcome = 'withdrawn'
                   ELSE a.step = 'terminate' AND a.outcome IN ('accepted', 'confirmed') END;
ALTER TABLE sandkeeper.actions ENABLE TRIGGER actions_stay;

-- As before, and who settles an action may write both.
ALTER FUNCTION sandkeeper.keep_record() RENAME TO keep_record_till_21;
CREATE FUNCTION sandkeeper.keep_record() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    writer text;
BEGIN
    PERFORM sandkeeper.keep_record_till_21();
    FOR writer IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid = 'sandkeeper.timeline'::regclass AND a.grantee <> c.relowner AND a.privilege_type = 'INSERT'
    LOOP
        EXECUTE format('GRANT UPDATE (how, waits_for) ON sandkeeper.actions TO %s', writer);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sandkeeper.keep_record FROM PUBLIC;
REVOKE ALL ON FUNCTION sandkeeper.keep_record_till_21 FROM PUBLIC;
SELECT sandkeeper.keep_record();
