-- Sets back how far the ledger-timed clocks reach, and keeps the rules that the first
-- pass knew: a rule of a later version is never added, so it stays new until it is named.
UPDATE sandkeeper.installation
SET watch_since = coalesce(@watch_since::timestamptz, watch_since),
    known_rules = coalesce(known_rules, @known::text[])
WHERE watch_since IS DISTINCT FROM coalesce(@watch_since::timestamptz, watch_since)
   OR (known_rules IS NULL AND @known::text[] IS NOT NULL)
