-- Remembers the sandboxes that changed, all in one statement. "Gone by us" stays once it
-- was confirmed: a pass that began before the confirmation does not know of it.
INSERT INTO sandkeeper.sandboxes AS s (
    provider, id, name, task, template, state, raw, created_at, first_seen, state_since,
    resumed_at, ran_at, gone_at, gone_by_us, worked_at, region, cpu, gpu, memory_gib)
SELECT u.*
FROM unnest(
    @providers::text[], @ids::text[], @names::text[], @tasks::text[], @templates::text[],
    @states::text[], @raw::text[], @created_at::timestamptz[], @first_seen::timestamptz[],
    @state_since::timestamptz[], @resumed_at::timestamptz[], @ran_at::timestamptz[],
    @gone_at::timestamptz[], @gone_by_us::boolean[], @worked_at::timestamptz[],
    @regions::text[], @cpu::double precision[], @gpu::double precision[], @memory_gib::double precision[]) u (provider, id)
ORDER BY u.provider, u.id
ON CONFLICT (provider, id) DO UPDATE SET
    name = excluded.name, task = excluded.task, template = excluded.template,
    state = excluded.state, raw = excluded.raw, created_at = excluded.created_at,
    first_seen = excluded.first_seen, state_since = excluded.state_since,
    resumed_at = excluded.resumed_at, ran_at = excluded.ran_at, gone_at = excluded.gone_at,
    region = excluded.region, cpu = excluded.cpu, gpu = excluded.gpu,
    memory_gib = excluded.memory_gib, worked_at = excluded.worked_at, gone_by_us = s.gone_by_us OR excluded.gone_by_us
