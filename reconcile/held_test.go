package reconcile

import (
	"strings"
	"testing"
)

// TestHeldParts: what a text says of a hold is read back in its parts.
func TestHeldParts(t *testing.T) {
	for text, want := range map[string]Held{
		"hold: task:4711 (customer; demo (2) by hand) by eve": {Kind: HeldHold, What: "task:4711", Reason: "customer; demo (2) by hand", By: "eve"},
		"hold: label:team=core":                               {Kind: HeldHold, What: "label:team=core"},
		"pause: all by ana":                                   {Kind: HeldPause, What: "all", By: "ana"},
		"pause: all (kept by ana)":                            {Kind: HeldPause, What: "all", Reason: "kept by ana"},
		"listing-untrusted daytona":                           {Kind: HeldFreeze, What: "listing:daytona"},
		"probes-untrusted e2b: no other answers":              {Kind: HeldFreeze, What: "probes:e2b", Reason: "no other answers"},
		"a row of eval_runs explains it":                      {Kind: HeldExplained, Reason: "a row of eval_runs explains it"},
		"activity-untrusted":                                  {Kind: HeldFreeze, What: "activity"},
		"incident: i-3k9f2":                                   {Kind: HeldIncident, What: "i-3k9f2"},
		"budget: per_pass 20, by the last pass":               {Kind: HeldBudget, What: "per_pass 20", Reason: "by the last pass"},
		"observe, or so":                                      {Kind: HeldOther, Reason: "observe, or so"},
		"cannot be ended: look-only":                          {Kind: HeldUnended, Reason: "look-only"},
		`status "waiting_for_user" is not mapped`:             {Kind: HeldUnmapped, Reason: `status "waiting_for_user" is not mapped`},
	} {
		if got := ParseHeld(text); got != want {
			t.Errorf("ParseHeld(%q) = %+v, want %+v", text, got, want)
		}
	}
}

// Every text that reconcile writes into Finding.HeldBy, and some that it does not.
func TestHeldLabel(t *testing.T) {
	for text, want := range map[string]string{
		"off":                                    "off",
		"observe":                                "observe",
		"pause: all (drill) by ana":              "pause",
		"pause: rule:orphan":                     "pause",
		"pause: provider:daytona by ana":         "pause",
		"hold: task:4711 (customer demo) by eve": "hold",
		"hold: label:team=core":                  "hold",
		"veto: finished-unrecorded":              "veto",
		"breaker: 41 due of a fleet of 60 exceed 30%; release with: sandkeeper release orphan --hash x": "breaker",
		"budget: per_hour 200":              "budget",
		"budget: per_pass 20":               "budget",
		"budget: share 10% of 60 sandboxes": "budget",
		"rollout: 10%":                      "rollout",
		FreezeName("listing:daytona"):       "listing:daytona",
		FreezeName("probes:e2b"):            "probes:e2b",
		FreezeName("probes:e2b") + ": 2 of the 4 others that were probed since fail as well": "probes:e2b",
		"a row of eval_runs explains it":          "explained",
		FreezeName("clock:updated_at"):            "clock:updated_at",
		FreezeName("credential:e2b"):              "credential:e2b",
		FreezeName("tasks"):                       "tasks",
		FreezeName("link"):                        "link",
		FreezeName("events"):                      "events",
		`status "waiting_for_user" is not mapped`: "unmapped-status",
		`unknown state "error"`:                   "unknown-state",
		"unmatched pair: task 4711 shows life and has no sandbox, this may be it":                  "unmatched-pair",
		"not-exclusive: it names a task that nobody here ever knew, and the account may be shared": "not-exclusive",
		`unparsable: "../x" is no id of the task table, somebody else may own it`:                  "unparsable",
		"its task was not read":                "unread-task",
		"its task is outside `where`":          "unread-task",
		"incident: i-3k9f2":                    "incident",
		"quarantine: e2b cannot stop or pause": "quarantine",
		"":                                     "other",
		FreezeName("activity"):                 "activity",
		"only silence: no probe of its sandbox can be made, and only silence speaks against its worker":                     "only-silence",
		"unproven: not proven on your history: 38 % of 412 completed tasks were silent for longer than 1m30s; 11m would do": "unproven",
		"cannot be ended: look-only":                                 "cannot-be-ended",
		"sandbox daytona/s1 could not be looked at: timeout":         "not-looked-at",
		"sandbox daytona/s1 is not listed and was not looked at yet": "not-looked-at",
		`no entry "e2b": the config does not name it any more`:       "no-entry",
		"it rests on a row, and the config says `tasks: none`":       "no-tasks",
		HeldReported().String():                                      "report",
		"this pass does not call for it":                             "not-called-for",
		"tried again from 2026-11-22 12:00:00 UTC":                   "tried-later",
		"the planned fail is withdrawn first":                        "withdrawn-first",
		"in quarantine until 2026-11-22 12:00:00 UTC":                "in-quarantine",
		"a word of a later version":                                  "other",
		"4711":                                                       "other",
		"paused":                                                     "other",
		"whatever-untrusted 4711":                                    "other",
		"unknown":                                                    "other",
	} {
		words := strings.SplitN(text+"  ", " ", 3)
		for _, said := range []string{text, words[0] + " " + words[1]} { // the ledger counts by two words
			if got := HeldLabel(said); got != want {
				t.Errorf("HeldLabel(%q) = %q, want %q", said, got, want)
			}
		}
		if h := ParseHeld(text); h.String() != text || h.Label() != want {
			t.Errorf("ParseHeld(%q) = %+v, which says %q", text, h, h.String())
		}
	}
}

// FuzzHeldLabel: whatever holds a finding, it is one of a few kinds, which become labels of
// metrics.
func FuzzHeldLabel(f *testing.F) {
	for _, text := range []string{"pause: all (drill) by ana", "listing-untrusted daytona", "hold: task:1", "clock-untrusted started_at runs ahead", "tasks-untrusted x",
		"-untrusted", "unknown state melted", "", " ", "breaker: orphan", "no such thing", "probes-untrusted \xff\n\"x\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if again := ParseHeld(text).String(); again != text {
			t.Fatalf("ParseHeld(%q) says %q", text, again)
		}
		kind, which, has := strings.Cut(HeldLabel(text), ":")
		if kind == "" || strings.ContainsAny(kind, " \n\"") {
			t.Fatalf("HeldLabel(%q) = %q", text, HeldLabel(text))
		}
		if has && (!strings.Contains(text, "-untrusted") || strings.Contains(which, " ")) {
			t.Fatalf("HeldLabel(%q) = %q, which is as many kinds as there are texts", text, HeldLabel(text))
		}
	})
}
