-- Signs requests with another key.
UPDATE sandkeeper.pauses AS t SET lift_seal = u.seal FROM unnest(@ids::bigint[], @seals::text[]) AS u (id, seal)
WHERE t.id = u.id
