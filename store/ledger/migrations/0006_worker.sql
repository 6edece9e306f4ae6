-- What a probe learnt of the sandbox's worker; null where nothing is known of it. And when one was
-- last found alive: a command that has never found any may be misspelt.
ALTER TABLE sandkeeper.probes
    ADD worker text CHECK (worker IN ('alive', 'dead'));
ALTER TABLE sandkeeper.sandboxes
    ADD probe_worker    text CHECK (probe_worker IN ('alive', 'dead')),
    ADD probe_worker_at timestamptz;
