-- Whether a process works jobs: one of them leads the others, by a lease that it renews, or did until a moment ago, or
-- has begun to work a queue just now and none leads yet.
SELECT EXISTS (SELECT FROM sandkeeper.river_leader WHERE expires_at > now() - interval '30 seconds')
    OR EXISTS (SELECT FROM sandkeeper.river_queue WHERE updated_at > now() - interval '30 seconds')
