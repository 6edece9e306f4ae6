-- Signatures of what operators ask for; and what they asked for is kept as it was: a lift is a
-- fact of its own beside the hold, and a mode that was cleared is a row like one that was lowered.

ALTER TABLE sandkeeper.actions ADD seal text NOT NULL DEFAULT '';
ALTER TABLE sandkeeper.releases ADD seal text NOT NULL DEFAULT '';
ALTER TABLE sandkeeper.incidents ADD release_seal text NOT NULL DEFAULT '';

ALTER TABLE sandkeeper.pauses
    ADD lifted_by  text NOT NULL DEFAULT '',
    ADD lifted_why text NOT NULL DEFAULT '',
    ADD lift_seal  text NOT NULL DEFAULT '';
ALTER TABLE sandkeeper.holds
    ADD lifted_by  text NOT NULL DEFAULT '',
    ADD lifted_why text NOT NULL DEFAULT '',
    ADD lift_seal  text NOT NULL DEFAULT '';

-- What was lifted before there were signatures stays lifted, whoever asks for one later.
UPDATE sandkeeper.pauses SET until = LEAST(until, lifted_at) WHERE lifted_at IS NOT NULL;
UPDATE sandkeeper.holds SET until = LEAST(until, lifted_at) WHERE lifted_at IS NOT NULL;

-- The newest row of a rule is its mode; 'config' gives the rule back to the config.
ALTER TABLE sandkeeper.modes
    DROP CONSTRAINT modes_pkey,
    DROP CONSTRAINT modes_mode_check,
    ADD CONSTRAINT modes_mode_check CHECK (mode IN ('off', 'observe', 'config')),
    ADD id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ADD seal text NOT NULL DEFAULT '';
CREATE INDEX modes_rule ON sandkeeper.modes (rule, id);
