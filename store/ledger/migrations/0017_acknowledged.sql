-- Who looks after an incident. It holds nothing and lets nothing go, so it needs no signature.
ALTER TABLE sandkeeper.incidents
    ADD acked_at  timestamptz,
    ADD acked_by  text NOT NULL DEFAULT '',
    ADD acked_why text NOT NULL DEFAULT '';
