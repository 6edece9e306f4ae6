-- How many actions were done in each slot, and how long sandboxes took to be gone.
SELECT floor(extract(epoch FROM closed_at - @from::timestamptz) / extract(epoch FROM @slot::interval))::int,
       count(*)::int,
       coalesce(percentile_disc(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM closed_at - first_acted_at))
           FILTER (WHERE step = 'terminate' AND outcome = 'confirmed' AND first_acted_at IS NOT NULL), 0)::double precision
FROM sandkeeper.actions WHERE closed_at >= @from AND outcome IN ('done', 'confirmed')
GROUP BY 1
