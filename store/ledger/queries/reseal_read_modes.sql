-- What was asked of the modes of rules, with its signatures.
SELECT id, rule, mode, author, reason, at, seal FROM sandkeeper.modes WHERE seal <> ''
