-- Reads task rows with the newest events of their workers: one statement, one snapshot.
-- With an index on the events' sandbox column each row looks up its own events; without
-- one, the events of the rows that were read are gathered in one go.
WITH t AS (
    SELECT {{range .Fields}}{{.SQL}} AS {{.Name}},
           {{end}}{{with .Events}}{{.Key}}{{else}}NULL{{end}} AS sk_key
    FROM {{.Table}}
    WHERE {{.Where}}
)
SELECT {{range .Fields}}t.{{.Name}}, {{end}}
{{- with .Events}}
       v.started, v.activity, v.heartbeat, v.waiting, v.finished
FROM t
LEFT JOIN {{if .Indexed}}LATERAL {{end}}(
    SELECT {{if not .Indexed}}u.key,
           {{end}}max(u.at) FILTER (WHERE u.type = ANY (@started::text[])) AS started,
           max(u.at) FILTER (WHERE u.type <> ALL (@heartbeat::text[])) AS activity,
           max(u.at) FILTER (WHERE u.type = ANY (@heartbeat::text[])) AS heartbeat,
           max(u.at) FILTER (WHERE u.type = ANY (@waiting::text[])) AS waiting,
           max(u.at) FILTER (WHERE u.type = ANY (@finished::text[])) AS finished
    FROM (
        SELECT {{if not .Indexed}}{{.Sandbox}} AS key,
               {{end}}({{.At}})::timestamptz AS at, ({{.Type}})::text AS type
        FROM {{.Table}} AS e
        WHERE {{if .Indexed}}{{.Sandbox}} = t.sk_key{{else}}{{.Sandbox}} IN (SELECT t.sk_key FROM t){{end}}
    ) AS u
    WHERE true
      -- guard:sql-own-events P5 our own events would be life signs of the worker
      AND u.type NOT LIKE 'sandkeeper.%'
      -- guard:sql-finite-events P5 an event at the end of time would keep its worker alive for ever
      AND isfinite(u.at)
    {{- if not .Indexed}}
    GROUP BY u.key{{end}}
) AS v ON {{if .Indexed}}true{{else}}v.key = t.sk_key{{end}}
{{- else}}
       NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz
FROM t
{{- end}}
