-- A token counts no more. One that was revoked stays as it is.
UPDATE sandkeeper.tokens SET revoked_at = @now WHERE id = @id AND revoked_at IS NULL
