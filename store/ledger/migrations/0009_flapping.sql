-- The newest failure of the run of failed probes that an answer ended last: whose probes fail and answer by
-- turns is no witness that its provider works.
ALTER TABLE sandkeeper.sandboxes
    ADD probe_run_ended timestamptz;
