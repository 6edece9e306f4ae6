-- What was asked of the modes of rules, in its order.
SELECT rule, mode, author, reason, at, seal FROM sandkeeper.modes ORDER BY rule, id
