-- The places, counted from 1, of those jobs of which none alike waits in the queue. Those
-- that run are left out: a killed process leaves its own running for minutes.
SELECT wanted.place
FROM unnest(@args::text[]) WITH ORDINALITY AS wanted (args, place)
WHERE NOT EXISTS (
    SELECT FROM sandkeeper.river_job waiting
    WHERE waiting.queue = @queue
      AND waiting.state IN ('available', 'scheduled', 'retryable')
      AND waiting.args = wanted.args::jsonb)
ORDER BY wanted.place
