-- Says who looks after an open incident. Who says it last does.
UPDATE sandkeeper.incidents SET acked_at = @now, acked_by = @author, acked_why = @reason
WHERE id = @id AND closed_at IS NULL
