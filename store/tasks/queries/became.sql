-- The state and the version that a locked row has now.
SELECT coalesce({{.State}}, '') AS state, xmin::text AS version FROM {{.Table}} WHERE {{.ID}}
