-- Whether a process works jobs: one of them leads the others, by a lease that it renews.
SELECT EXISTS (SELECT FROM sandkeeper.river_leader WHERE expires_at > now())
