-- Reads all events of the workers of some rows, those of each in the order of time.
SELECT u.key, u.at, u.started, u.heartbeat, u.waiting, u.finished
FROM (
    SELECT ({{.Key}})::text AS key, ({{.At}})::timestamptz AS at, ({{.Type}})::text AS type,
           ({{.Started}}) AS started, ({{.Heartbeat}}) AS heartbeat, ({{.Waiting}}) AS waiting, ({{.Finished}}) AS finished
    FROM {{.Table}} AS e
    WHERE {{.Among}}
) AS u
WHERE u.type NOT LIKE 'sandkeeper.%' AND isfinite(u.at)
ORDER BY u.key, u.at
