-- The thresholds of rules whose config says `after: auto`: a set of rows each time that they are computed, of which the
-- newest counts. No row is ever changed.
CREATE TABLE sandkeeper.learned (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule      text NOT NULL,
    class     text NOT NULL,
    at        timestamptz NOT NULL,
    after_us  bigint NOT NULL CHECK (after_us >= 0),
    target_us bigint NOT NULL,
    from_us   bigint NOT NULL,
    samples   integer NOT NULL,
    dead      double precision NOT NULL,
    frozen    boolean NOT NULL,
    sum       text NOT NULL,
    line      text NOT NULL,
    seal      text NOT NULL DEFAULT ''
);
CREATE INDEX learned_rule ON sandkeeper.learned (rule, at);

-- What the last backtest of a rule came to by threshold, for its picture.
CREATE TABLE sandkeeper.proof_curves (
    rule    text PRIMARY KEY,
    made_at timestamptz NOT NULL,
    curve   jsonb NOT NULL
);

-- Labels of the sandbox that a verdict was about, which may tell kinds of sandboxes apart.
ALTER TABLE sandkeeper.verdicts ADD COLUMN labels text[] NOT NULL DEFAULT '{}';

-- As before, and what was learned stays on record.
ALTER FUNCTION sandkeeper.keep_record() RENAME TO keep_record_till_18;
CREATE FUNCTION sandkeeper.keep_record() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    writer text;
BEGIN
    PERFORM sandkeeper.keep_record_till_18();
    FOR writer IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid = 'sandkeeper.timeline'::regclass AND a.grantee <> c.relowner AND a.privilege_type = 'INSERT'
    LOOP
        EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON sandkeeper.learned FROM %s', writer);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sandkeeper.keep_record FROM PUBLIC;
REVOKE ALL ON FUNCTION sandkeeper.keep_record_till_18 FROM PUBLIC;
SELECT sandkeeper.keep_record();
