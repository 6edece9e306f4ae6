-- Lifts holds, locked before.
UPDATE sandkeeper.holds AS h
SET lifted_at = @now, lifted_by = @author, lifted_why = @reason, lift_seal = u.seal
FROM unnest(@ids::bigint[], @seals::text[]) AS u (id, seal)
WHERE h.id = u.id
