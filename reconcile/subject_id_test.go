package reconcile

import "testing"

// TestParseSubject: what a text says of a subject is read back in its parts.
func TestParseSubject(t *testing.T) {
	for text, want := range map[string]SubjectID{
		"task:4711":                  {Type: SubjectTask, ID: "4711"},
		"task:a/b:c":                 {Type: SubjectTask, ID: "a/b:c"},
		"sandbox:daytona/sb-1":       {Type: SubjectSandbox, Provider: "daytona", ID: "sb-1"},
		"sandbox:docker/a/b":         {Type: SubjectSandbox, Provider: "docker", ID: "a/b"},
		"sandbox:sb-1":               {Type: SubjectSandbox, ID: "sb-1"},
		"sandbox:/sb-1":              {Type: SubjectSandbox, ID: "/sb-1"},
		"template:e2b/base:latest":   {Type: SubjectTemplate, Provider: "e2b", ID: "base:latest"},
		"incident:i-3k9f2":           {Type: SubjectIncident, ID: "i-3k9f2"},
		"source:clock:updated_at":    {Type: SubjectSource, ID: "clock:updated_at"},
		"capacity:all":               {Type: SubjectCapacity, ID: "all"},
		"capacity:daytona/cpu cores": {Type: SubjectCapacity, Provider: "daytona", ID: "cpu cores"},
		"label:team=core":            {Type: SubjectLabel, ID: "team=core"},
		"all":                        {ID: "all"},
		"":                           {},
		":x":                         {ID: ":x"},
	} {
		if got := ParseSubject(text); got != want || got.String() != text {
			t.Errorf("ParseSubject(%q) = %+v, which says %q, want %+v", text, got, got, want)
		}
	}
}

// FuzzParseSubject: no text of a subject is changed by reading it.
func FuzzParseSubject(f *testing.F) {
	for _, text := range []string{"task:1", "sandbox:a/b/c", "sandbox:/", "template:x/", ":", "capacity:all/escalate", "a:b:c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if again := ParseSubject(text).String(); again != text {
			t.Fatalf("ParseSubject(%q) says %q", text, again)
		}
	})
}

func TestOfType(t *testing.T) {
	for text, want := range map[string]string{"breaker:orphan": "orphan", "orphan": "orphan", "rule:orphan": "rule:orphan"} {
		if id, is := OfType(SubjectBreaker, text); id != want || is != (text == "breaker:orphan") {
			t.Errorf("OfType(breaker, %q) = %q, %t", text, id, is)
		}
	}
}

// TestParseCount: what the ledger keeps of a count is read back in its parts.
func TestParseCount(t *testing.T) {
	for text, want := range map[string]Count{
		"tasks:running":             {What: CountTasks, State: "running"},
		"sandboxes:daytona:running": {What: CountSandboxes, Provider: "daytona", State: "running"},
		"sandboxes:a:b:unknown":     {What: CountSandboxes, Provider: "a:b", State: "unknown"},
		"owned:daytona":             {What: CountOwned, Provider: "daytona"},
		"foreign:e2b":               {What: CountForeign, Provider: "e2b"},
		"foreign":                   {What: CountForeign},
		"not_looked_at":             {What: CountUnlooked},
		"of a later:version":        {What: "of a later:version"},
	} {
		if got := ParseCount(text); got != want || got.String() != text {
			t.Errorf("ParseCount(%q) = %+v, which says %q, want %+v", text, got, got, want)
		}
	}
}

func TestSourceParts(t *testing.T) {
	for source, of := range map[string][2]string{
		ListingOf("daytona"): {SourceListing, "daytona"}, ProbesOf("e2b"): {SourceProbes, "e2b"},
		ClockOf("updated_at"): {SourceClock, "updated_at"}, CredentialOf("e2b"): {SourceCredential, "e2b"},
		SourceTasks: {SourceTasks, ""},
	} {
		if kind, which := SourceParts(source); kind != of[0] || which != of[1] {
			t.Errorf("SourceParts(%q) = %q, %q", source, kind, which)
		}
	}
}
