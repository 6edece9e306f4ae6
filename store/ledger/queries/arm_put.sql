-- Lets a rule act unproven, or takes that back.
INSERT INTO sandkeeper.arms (rule, armed, author, reason, at, seal) VALUES (@rule, @armed, @author, @reason, @now, @seal)
