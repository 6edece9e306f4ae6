-- The places, counted from 1, of those jobs of which none alike waits in the queue, or runs
-- for less than a while. Others that run are left out: a killed process leaves its own
-- running for minutes.
SELECT wanted.place
FROM unnest(@args::text[]) WITH ORDINALITY AS wanted (args, place)
WHERE NOT EXISTS (
    SELECT FROM sandkeeper.river_job waiting
    WHERE waiting.queue = @queue
      AND (waiting.state IN ('available', 'scheduled', 'retryable')
           OR waiting.state = 'running' AND waiting.attempted_at > now() - @running::interval)
      AND waiting.args = wanted.args::jsonb)
ORDER BY wanted.place
