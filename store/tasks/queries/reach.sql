-- Whether what runs as this login here can write to a ledger that is in the same database, also as a role that it may
-- become (or will, as it is @own); what of others runs with what a repair reads and writes, as pg_depend knows it:
-- functions of triggers, rules, policies, constraints, defaults and indexes, directly or by an operator, a type or a
-- view; and who owns the table, where that is neither this login nor a superuser.
WITH RECURSIVE roles AS (
    SELECT r.oid FROM pg_roles r WHERE pg_has_role(r.oid, 'MEMBER')
), relation AS (
    SELECT c.oid, c.relowner FROM pg_class c WHERE c.oid = to_regclass(@relation::text)
), parts AS (
    -- What belongs to a relation and runs with it.
    SELECT 'pg_trigger'::regclass AS class, t.oid, t.tgrelid AS relation
    FROM pg_trigger t WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
    UNION ALL SELECT 'pg_rewrite'::regclass, r.oid, r.ev_class FROM pg_rewrite r WHERE r.ev_enabled <> 'D'
    UNION ALL SELECT 'pg_policy'::regclass, p.oid, p.polrelid FROM pg_policy p
    UNION ALL SELECT 'pg_constraint'::regclass, k.oid, k.conrelid FROM pg_constraint k WHERE k.conrelid <> 0
    UNION ALL SELECT 'pg_attrdef'::regclass, d.oid, d.adrelid FROM pg_attrdef d
    UNION ALL SELECT 'pg_class'::regclass, i.indexrelid, i.indrelid FROM pg_index i
    UNION ALL SELECT 'pg_class'::regclass, h.inhrelid, h.inhparent FROM pg_inherits h
), runs AS (
    SELECT 'pg_class'::regclass::oid AS class, oid, NULL::text AS part FROM relation
    UNION
    SELECT n.class, n.oid, coalesce(n.part, r.part)
    FROM runs r
    CROSS JOIN LATERAL (
        SELECT p.class::oid, p.oid, pg_describe_object(p.class, p.oid, 0) AS part
        FROM parts p WHERE r.class = 'pg_class'::regclass AND p.relation = r.oid
        UNION ALL
        SELECT 'pg_constraint'::regclass, k.oid, pg_describe_object('pg_constraint'::regclass, k.oid, 0)
        FROM pg_constraint k WHERE r.class = 'pg_type'::regclass AND k.contypid = r.oid
        UNION ALL
        SELECT d.refclassid, d.refobjid, NULL
        FROM pg_depend d
        WHERE d.classid = r.class AND d.objid = r.oid
          AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass, 'pg_class'::regclass)
          AND d.deptype <> 'e'
    ) AS n (class, oid, part)
)
SELECT @own::boolean OR EXISTS (
           SELECT FROM pg_namespace n
           WHERE n.nspname = 'sandkeeper'
             AND (n.nspowner IN (SELECT oid FROM roles)
                  OR EXISTS (SELECT FROM roles r, pg_class c
                             WHERE has_schema_privilege(r.oid, n.oid, 'USAGE')
                               AND c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
                               AND (has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE')
                                    OR has_table_privilege(r.oid, c.oid, 'DELETE, TRUNCATE, TRIGGER'))))),
       ARRAY(SELECT DISTINCT format('%s (%s of %I)', r.part, p.oid::regprocedure, pg_get_userbyid(p.proowner))
             FROM runs r JOIN pg_proc p ON p.oid = r.oid JOIN pg_roles o ON o.oid = p.proowner
             WHERE r.class = 'pg_proc'::regclass AND NOT p.prosecdef AND NOT o.rolsuper
               AND NOT pg_has_role(o.oid, 'USAGE')
             ORDER BY 1),
       coalesce((SELECT o.rolname FROM relation t JOIN pg_roles o ON o.oid = t.relowner
                 WHERE NOT o.rolsuper AND NOT pg_has_role(o.oid, 'USAGE')), '')
