-- Reads the rows of a page of a history that were over since a moment, and those at work, which tell what others
-- did meanwhile.
SELECT {{range .Fields}}{{.SQL}} AS {{.Name}},
       {{end}}NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz,
       ({{.Ended}})::timestamptz, ({{.Class}})::text, ({{.Key}})::text
FROM {{.Table}}
WHERE {{.From}} AND {{.To}}
  AND ({{.Alive}} OR coalesce(({{.Ended}})::timestamptz >= @since, true))
