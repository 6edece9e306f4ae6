-- What is known of how often each rule is wrong on this platform: of all that it judges, and by class.
CREATE TABLE sandkeeper.proofs (
    rule            text NOT NULL,
    class           text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('backtest', 'observed')),
    sum             text NOT NULL,
    made_at         timestamptz NOT NULL,
    samples         integer NOT NULL,
    false_positives integer NOT NULL,
    upper_bound     double precision NOT NULL,
    lower_bound     double precision NOT NULL,
    line            text NOT NULL,
    took_us         bigint NOT NULL,
    seal            text NOT NULL DEFAULT '',
    PRIMARY KEY (rule, class, kind)
);

-- What operators said of rules that are not proven; the newest row of a rule counts.
CREATE TABLE sandkeeper.arms (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule   text NOT NULL,
    armed  boolean NOT NULL,
    author text NOT NULL,
    reason text NOT NULL,
    at     timestamptz NOT NULL,
    seal   text NOT NULL DEFAULT ''
);
CREATE INDEX arms_rule ON sandkeeper.arms (rule, id);

-- Since when the verdicts of a rule are of the rule as it is now.
CREATE TABLE sandkeeper.observed_since (
    rule  text PRIMARY KEY,
    sum   text NOT NULL,
    since timestamptz NOT NULL
);

-- Rules that enforced before proofs were asked for go on for a while. A new ledger has none.
CREATE TABLE sandkeeper.proof_grace (
    rule  text PRIMARY KEY,
    until timestamptz NOT NULL
);
INSERT INTO sandkeeper.proof_grace (rule, until)
SELECT rule, now() + interval '14 days' FROM (
    SELECT rule FROM sandkeeper.actions WHERE rule NOT IN ('operator', 'emergency') AND acted_at IS NOT NULL
    UNION SELECT rule FROM sandkeeper.verdicts WHERE enforced) AS acted;

-- One process at a time reads the platform's history for proofs.
CREATE TABLE sandkeeper.proving (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    holder   text NOT NULL DEFAULT '',
    until    timestamptz NOT NULL DEFAULT 'epoch'
);
INSERT INTO sandkeeper.proving DEFAULT VALUES;

-- As before, and an operator's word on a rule stays on record, and nobody gives a rule grace.
CREATE OR REPLACE FUNCTION sandkeeper.keep_record() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    writer text;
BEGIN
    FOR writer IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid = 'sandkeeper.timeline'::regclass AND a.grantee <> c.relowner AND a.privilege_type = 'INSERT'
    LOOP
        EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON sandkeeper.timeline, sandkeeper.modes, sandkeeper.arms FROM %s',
            writer);
        EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON sandkeeper.proof_grace FROM %s', writer);
        EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON sandkeeper.timeline_links, sandkeeper.timeline_chain '
            'FROM %s', writer);
        EXECUTE format('REVOKE UPDATE, TRUNCATE ON sandkeeper.releases, sandkeeper.holds, sandkeeper.pauses, '
            'sandkeeper.actions FROM %s', writer);
        EXECUTE format('GRANT UPDATE (lifted_at, lifted_by, lifted_why, lift_seal) ON sandkeeper.holds, sandkeeper.pauses '
            'TO %s', writer);
        EXECUTE format('GRANT UPDATE (seal) ON sandkeeper.modes, sandkeeper.arms TO %s', writer);
        EXECUTE format('GRANT UPDATE (outcome, detail, evidence, attempts, claimed_at, claimed_by, claim_ends, '
            'claim_epoch, acted_at, first_acted_at, asked_at, asks, closed_at, next_attempt, begun_at, begun_pass, '
            'begun_shared, row_before) ON sandkeeper.actions TO %s', writer);
        EXECUTE format('GRANT EXECUTE ON FUNCTION sandkeeper.purge_timeline TO %s', writer);
    END LOOP;
END
$$;
SELECT sandkeeper.keep_record();
