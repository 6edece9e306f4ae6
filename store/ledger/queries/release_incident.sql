-- Lets what an open incident holds go on, once.
UPDATE sandkeeper.incidents SET released_at = @now, released_by = @author, released_why = @reason,
    release_seal = @seal
WHERE id = @id
  -- guard:sql-release-open lost
  AND closed_at IS NULL
  -- guard:sql-release-once lost
  AND released_at IS NULL
