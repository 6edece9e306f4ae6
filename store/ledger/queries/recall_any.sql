-- What stands for all that a recall would read. It follows a recall's own statement, see queries.go.
SELECT coalesce(bit_xor(q.sum), 0) FROM recalled AS q
