-- How far each source is trusted.
SELECT name, trusted, reason, since, recovered_at, last_trusted, clock, set_back, beat, distrust
FROM sandkeeper.sources
