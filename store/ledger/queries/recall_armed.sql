-- The newest verdict before each rule was armed last: those up to it are forgiven.
SELECT rule, after FROM sandkeeper.armings WHERE after > 0
