-- Lets what an open incident holds go on, once.
UPDATE sandkeeper.incidents SET released_at = @now, released_by = @author, released_why = @reason
WHERE id = @id
  -- guard:sql-release-open lost an incident that is over would be told to be released
  AND closed_at IS NULL
  -- guard:sql-release-once lost a second person would be told to have released it
  AND released_at IS NULL
