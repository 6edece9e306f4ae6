package main

import (
	"testing"
)

// slowPast is a history whose second page takes long to read: nobody waits for the events of its later tasks.
const slowPast = `
CREATE TABLE public.slow (yes boolean);
INSERT INTO public.slow VALUES (true);
CREATE FUNCTION public.late(box text, at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF substring(box FROM '^box-(\d+)$')::int > 250 AND EXISTS (SELECT FROM public.slow) THEN
		PERFORM pg_sleep(120);
	END IF;
	RETURN at;
END $$;
CREATE VIEW public.slow_events AS
	SELECT id, sandbox_id, event_type, event_data, source, spec_id, late(sandbox_id, created_at) AS created_at
	FROM public.sandbox_events`

// TestProofInParts: a history that one run of once has no time for is read by several, each going on where the one
// before stopped, until the proof is whole; meanwhile the rule is held, and no run reads again what another has read.
func TestProofInParts(t *testing.T) {
	a, stale := gated(t, steadyPast)
	a.configure(settings{proof: "{samples: 200}", limits: "{}", more: quickly + "\nevents: {table: public.slow_events}"})
	a.sql(slowPast)
	a.once(0, "--timeout", "2m") // a quarter of that is for the history
	a.becomes(stale, "assigned")
	if n := a.count("SELECT tasks FROM sandkeeper.proof_progress"); n < 100 || n > 250 {
		t.Fatalf("%d tasks are kept as read, want those of the first page", n)
	}
	a.once(0, "--timeout", "2m")
	a.becomes(stale, "assigned")
	a.sql(`DELETE FROM public.slow; DELETE FROM public.tasks WHERE id < 'past-0150' AND id LIKE 'past-%'`)
	a.once(0)
	a.becomes(stale, "failed")
	if n := a.count("SELECT samples FROM sandkeeper.proofs WHERE rule = 'assigned-stale' AND class = 'all' AND kind = 'backtest'"); n != 300 {
		t.Errorf("the proof rests on %d tasks, want all 300", n)
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.proof_progress"); n != 0 {
		t.Errorf("%d histories are kept as read in part, want none once the proof is whole", n)
	}
}
