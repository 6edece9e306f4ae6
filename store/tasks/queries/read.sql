-- Reads task rows with the newest events of their workers: one statement, one snapshot.
-- With an index on the events' sandbox column each row looks up its own events; without
-- one, the events of the rows that were read are gathered in one go. So are those of rows
-- without a sandbox, where events name their task: that column may have no index.
-- With an index on the key, the type and the time, where keys have many events, it goes from type to type: as many steps
-- as there are types.
-- Or it reads, in place of rows, what came since a moment, for whatever it came of.
{{- define "event"}}({{.At}})::timestamptz AS at, ({{.Type}})::text AS type,
               ({{.Started}}) AS started, ({{.Heartbeat}}) AS heartbeat, ({{.Waiting}}) AS waiting, ({{.Finished}}) AS finished{{end}}
{{- define "newest"}}max(u.at) FILTER (WHERE u.started) AS started,
           max(u.at) FILTER (WHERE NOT u.heartbeat) AS activity,
           max(u.at) FILTER (WHERE u.heartbeat) AS heartbeat,
           max(u.at) FILTER (WHERE u.waiting) AS waiting,
           max(u.at) FILTER (WHERE u.finished) AS finished{{end}}
{{- define "last"}}SELECT {{.Type}}, {{.At}}
         FROM {{.Table}} AS e
         WHERE {{.Sandbox}} = t.sk_key AND {{.At}} > '-infinity' AND {{.At}} < 'infinity'{{end}}
{{- define "counted"}}WHERE true
      -- guard:sql-own-events P5
      AND u.type NOT LIKE 'sandkeeper.%'
      -- guard:sql-finite-events P5
      AND isfinite(u.at)
{{- end}}
{{- if .Since}}{{with .Events}}
SELECT (u.key)::text, {{template "newest"}}
FROM (
    SELECT {{.Sandbox}} AS key,
           {{template "event" .}}
    FROM {{.Table}} AS e
    WHERE {{.At}} > @since::timestamptz AND {{.At}} < 'infinity' AND {{.Sandbox}} IS NOT NULL
) AS u
{{template "counted"}}
GROUP BY u.key
{{end}}{{else}}
WITH t AS (
    SELECT {{range .Fields}}{{.SQL}} AS {{.Name}},
           {{end}}{{with .Events}}{{.Key}}{{else}}NULL{{end}} AS sk_key
    FROM {{.Table}}
    WHERE {{.Where}}
)
SELECT {{range .Fields}}t.{{.Name}}, {{end}}
{{- with .Events}}
       {{if .Task}}coalesce(v.started, w.started), coalesce(v.activity, w.activity), coalesce(v.heartbeat, w.heartbeat),
       coalesce(v.waiting, w.waiting), coalesce(v.finished, w.finished)
       {{- else}}v.started, v.activity, v.heartbeat, v.waiting, v.finished{{end}}
FROM t
LEFT JOIN {{if .Indexed}}LATERAL {{end}}(
    {{- if .Loose}}
    WITH RECURSIVE s ({{.Columns}}) AS (
        ({{template "last" .}} AND {{.Type}} IS NOT NULL
         ORDER BY {{.Type}} DESC, {{.At}} DESC
         LIMIT 1)
        UNION ALL
        SELECT n.*
        FROM s
        CROSS JOIN LATERAL (
         {{template "last" .}} AND {{.Type}} < s.{{.TypeColumn}}
         ORDER BY {{.Type}} DESC, {{.At}} DESC
         LIMIT 1) AS n
    )
    SELECT {{template "newest"}}
    FROM (
        SELECT {{template "event" .}}
        FROM s AS e
        {{- range .Narrowed}}
        UNION ALL
        (SELECT {{template "event" .}}
         FROM {{.Table}} AS e
         WHERE {{.Sandbox}} = t.sk_key AND {{.Type}} = {{.Only}} AND {{.At}} > '-infinity' AND {{.At}} < 'infinity' AND {{.If}}
         ORDER BY {{.At}} DESC
         LIMIT 1)
        {{- end}}
    ) AS u
    {{- else}}
    SELECT {{if not .Indexed}}u.key,
           {{end}}{{template "newest"}}
    FROM (
        SELECT {{if not .Indexed}}{{.Sandbox}} AS key,
               {{end}}{{template "event" .}}
        FROM {{.Table}} AS e
        WHERE {{if .Indexed}}{{.Sandbox}} = t.sk_key{{else}}{{.Sandbox}} IN (SELECT t.sk_key FROM t){{end}}
    ) AS u
    {{- end}}
    {{template "counted"}}
    {{- if not .Indexed}}
    GROUP BY u.key{{end}}
) AS v ON {{if .Indexed}}true{{else}}v.key = t.sk_key{{end}}
{{- if .Task}}
LEFT JOIN (
    SELECT u.key,
           {{template "newest"}}
    FROM (
        SELECT r.sk_id AS key,
               {{template "event" .}}
        FROM t AS r
        JOIN {{.Table}} AS e ON ({{.Task}})::text = r.sk_id{{if .Created}} AND ({{.At}})::timestamptz >= r.sk_created_at{{end}}
        WHERE coalesce(r.sk_sandbox, '') = ''
    ) AS u
    {{template "counted"}}
    GROUP BY u.key
) AS w ON w.key = t.sk_id
{{- end}}
{{- else}}
       NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz
FROM t
{{- end}}
{{- end}}
