-- A user as the program makes one when somebody signs in by GitHub.
INSERT INTO users (id, provider, external_id, access_token, username)
VALUES ('u', 'github', '1', 'encrypted', 'ana');
