-- Opens breakers, and brings the open ones up to date.
INSERT INTO sandkeeper.breakers (rule, opened_at, subjects, hash)
SELECT u.rule, u.opened_at, ARRAY(SELECT jsonb_array_elements_text(u.subjects::jsonb)), u.hash
FROM unnest(@rules::text[], @opened_at::timestamptz[], @subjects::text[], @hashes::text[])
    u (rule, opened_at, subjects, hash)
ON CONFLICT (rule) DO UPDATE SET
    opened_at = excluded.opened_at, subjects = excluded.subjects, hash = excluded.hash
