-- What each rule came to since a time.
SELECT rule, count(*), count(acted_at), count(DISTINCT subject), count(regret_at)
FROM sandkeeper.verdicts WHERE at > @from
GROUP BY rule
