-- Says where the connection leads and who it is.
SELECT current_setting('server_version') AS version, current_database()::text AS database, current_user::text AS role,
       pg_is_in_recovery() AS standby
