-- The state and the version that a locked row has now.
SELECT coalesce({{.State}}, '') AS state, {{.Version}} AS version FROM {{.Table}} WHERE {{.ID}}
