-- The remedies begun in the rolling hour, when the ledger was stamped, and what its tables take on disk.
SELECT (SELECT count(*) FROM sandkeeper.actions WHERE begun_at > @hour_ago),
       (SELECT stamped_at FROM sandkeeper.installation),
       (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'sandkeeper' AND c.relkind = 'r')
