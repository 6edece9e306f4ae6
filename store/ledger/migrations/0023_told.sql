-- Whoever listens is told of what changed, as queries/changed.sql asks for it: so an open page need not ask each second.
-- What a transaction tells twice is told once. A transaction that writes lines of the timeline holds the lock of their
-- chain until it ends in any case, so that the one that NOTIFY takes makes nobody wait for longer.
CREATE FUNCTION sandkeeper.told() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_notify('sandkeeper.changed', TG_ARGV[0]);
    RETURN NULL;
END
$$;
CREATE TRIGGER pass_begun AFTER INSERT ON sandkeeper.passes FOR EACH STATEMENT EXECUTE FUNCTION sandkeeper.told('begun');
CREATE TRIGGER pass_ended AFTER UPDATE ON sandkeeper.passes FOR EACH STATEMENT EXECUTE FUNCTION sandkeeper.told('');
CREATE TRIGGER line_linked AFTER INSERT ON sandkeeper.timeline_links
    FOR EACH STATEMENT EXECUTE FUNCTION sandkeeper.told('');
