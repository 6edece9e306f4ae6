-- Records that a pass has begun and gives it its number.
INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at)
VALUES (@kind, @holder, @epoch, @at)
RETURNING id
