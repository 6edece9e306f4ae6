-- Ends pauses, locked before.
UPDATE sandkeeper.pauses AS p
SET lifted_at = @now, lifted_by = @author, lifted_why = @reason, lift_seal = u.seal
FROM unnest(@ids::bigint[], @seals::text[]) AS u (id, seal)
WHERE p.id = u.id
