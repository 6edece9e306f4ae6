-- Signs an operator's word with another key.
UPDATE sandkeeper.arms AS t SET seal = u.seal FROM unnest(@ids::bigint[], @seals::text[]) AS u (id, seal)
WHERE t.id = u.id
