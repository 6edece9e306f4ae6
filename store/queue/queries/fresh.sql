-- The places, counted from 1, of those jobs of which none alike waits in the queue, or runs
-- for less than a while. Others that run are left out: a killed process leaves its own
-- running for minutes. Both are put into groups of jobs alike, which takes one look at each: a join of
-- ten thousand probes with as many that wait, whose number the planner does not know, took half a minute.
SELECT min(alike.place)
FROM (
    SELECT wanted.args::jsonb AS args, wanted.place
    FROM unnest(@args::text[]) WITH ORDINALITY AS wanted (args, place)
    UNION ALL
    SELECT waiting.args, 0
    FROM sandkeeper.river_job waiting
    WHERE waiting.queue = @queue
      AND (waiting.state IN ('available', 'scheduled', 'retryable')
           OR waiting.state = 'running' AND waiting.attempted_at > now() - @running::interval)) alike
GROUP BY alike.args
HAVING min(alike.place) > 0
ORDER BY 1
