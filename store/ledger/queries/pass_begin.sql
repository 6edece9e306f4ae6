-- Records that a pass has begun and gives it its number. It is put behind fence.sql, in one statement: where the lease
-- does not stand there is no row.
INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at)
SELECT @kind::text, @holder::text, @epoch::bigint, @at::timestamptz
-- FROM fence
RETURNING id
