-- Lets what an open incident holds go on, once.
UPDATE sandkeeper.incidents SET released_at = @now, released_by = @author, released_why = @reason
WHERE id = @id AND closed_at IS NULL AND released_at IS NULL
