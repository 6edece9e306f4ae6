-- Where those stand that a recall reads of what is gone for long. It follows a part of its own statement, see queries.go.
SELECT coalesce(array_agg(q.tid::text), '{}') FROM recalled AS q
