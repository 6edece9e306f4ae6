-- What a recall would read of some buckets. It follows a recall's own statement, see queries.go.
SELECT q.* FROM recalled AS q WHERE q.bucket = ANY (@buckets::bigint[])
