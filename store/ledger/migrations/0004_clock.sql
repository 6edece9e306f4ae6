-- What the task database's clock told last, and how far it had come when it was set back.
ALTER TABLE sandkeeper.sources
    ADD clock    timestamptz,
    ADD set_back timestamptz;
