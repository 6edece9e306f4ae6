-- Whoever listens is told of what changed, as queries/changed.sql asks for it: so an open page need not ask each second.
-- What a transaction tells twice is told once. At its commit each that tells takes a lock of the whole server, for the
-- time of the commit: they commit one behind the other.
-- News never fails what it is about. Nobody is told while the server's queue of news is half full, as behind a listener
-- that hangs: one that is full fails each commit. It is the command and not pg_notify, which may be taken from PUBLIC;
-- where the look at the queue is taken away too nobody is told. Who is not told finds out by asking now and then.
CREATE FUNCTION sandkeeper.told() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF has_function_privilege('pg_catalog.pg_notification_queue_usage()', 'EXECUTE') THEN
        -- A statement of its own: what may not be called may not stand beside the question either.
        IF pg_notification_queue_usage() < 0.5 THEN
            EXECUTE format('NOTIFY %I, %L', 'sandkeeper.changed', TG_ARGV[0]);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER pass_begun AFTER INSERT ON sandkeeper.passes FOR EACH STATEMENT EXECUTE FUNCTION sandkeeper.told('begun');
CREATE TRIGGER pass_ended AFTER UPDATE ON sandkeeper.passes FOR EACH STATEMENT EXECUTE FUNCTION sandkeeper.told('');
CREATE TRIGGER line_linked AFTER INSERT ON sandkeeper.timeline_links
    FOR EACH STATEMENT EXECUTE FUNCTION sandkeeper.told('');
