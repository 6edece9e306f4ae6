-- What was said of rules that are not proven, in its order.
SELECT id, rule, armed, author, reason, at, seal FROM sandkeeper.arms ORDER BY rule, id
