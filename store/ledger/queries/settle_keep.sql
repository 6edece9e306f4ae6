-- Moves the terminate after a quarantine, which has begun later than was planned.
UPDATE sandkeeper.actions SET next_attempt = next_attempt + @later::interval
WHERE remedy = @remedy AND seq > @seq AND provider = @provider AND sandbox = @sandbox AND closed_at IS NULL
