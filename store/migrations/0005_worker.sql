-- What a probe learnt of the sandbox's worker; null where nothing is known of it.
ALTER TABLE sandkeeper.probes
    ADD worker text CHECK (worker IN ('alive', 'dead'));
ALTER TABLE sandkeeper.sandboxes
    ADD probe_worker text CHECK (probe_worker IN ('alive', 'dead'));
