-- What was asked of the mode of a rule, in its order.
SELECT rule, mode, author, reason, at, seal FROM sandkeeper.modes WHERE rule = @rule ORDER BY id
