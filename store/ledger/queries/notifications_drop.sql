-- Forgets what is over and was told so, or never was told, and all of receivers that the config has no more.
DELETE FROM sandkeeper.notifications WHERE version = '' AND told = '' OR receiver <> ALL(@receivers::text[])
