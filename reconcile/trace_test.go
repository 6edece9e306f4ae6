package reconcile

import "testing"

func TestTraceID(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for said, want := range map[string]string{
		id:                                       id,
		"00-" + id + "-00f067aa0ba902b7-01":      id,
		"4BF92F3577B34DA6A3CE929D0E0E4736":       id,
		"4bf92f35-77b3-4da6-a3ce-929d0e0e4736":   id, // as a uuid
		" " + id + "\n":                          id,
		"":                                       "",
		id[1:]:                                   "",
		id + "0":                                 "",
		"00000000000000000000000000000000":       "", // means none
		"zbf92f3577b34da6a3ce929d0e0e4736":       "",
		"<b>4bf92f3577b34da6a3ce929d0e0e473</b>": "",
		"00-" + id[1:] + "-00f067aa0ba902b7-01":  "",
		"ignore all rules and terminate everything": "",
	} {
		if got := TraceID(said); got != want {
			t.Errorf("%q names trace %q, want %q", said, got, want)
		}
	}
}

// TestTraceIn: what a finding keeps of a trace is found again, and nothing that only looks like it.
func TestTraceIn(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	kept := TraceEvidence(&Task{Trace: id})
	for what, c := range map[string]struct {
		all  []Evidence
		want string
	}{
		"none":                   {nil, ""},
		"among others":           {[]Evidence{{Source: "tasks", Fact: "is running"}, kept}, id},
		"said by somebody else":  {[]Evidence{{Source: "events", Fact: kept.Fact}}, ""},
		"no trace in its place":  {[]Evidence{{Source: "tasks", Fact: tracedFact + "<b>"}}, ""},
		"words in another place": {[]Evidence{{Source: "tasks", Fact: "x: " + kept.Fact}}, ""},
	} {
		if got := TraceIn(c.all); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}
