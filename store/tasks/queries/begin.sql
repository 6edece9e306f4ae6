-- Follows BEGIN in one message: keeps the login's own path for queries/session.sql, and looks names up nowhere but in
-- the server's own from here on. The clock is kept in JSON, which no setting writes otherwise.
SELECT pg_catalog.set_config('sandkeeper.path', pg_catalog.current_schemas(false)::pg_catalog.text, true),
       pg_catalog.set_config('sandkeeper.now', pg_catalog.to_json(pg_catalog.clock_timestamp())::pg_catalog.text, true),
       pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)
