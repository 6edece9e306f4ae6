package simtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

const wellFormed = `# a history with a line of each of the engine's verbs
seed 7
calm 40m
provider lab exclusive=yes
process once every 2m wait 30s
process replica-1 quick 15s full 2m lanes 2
process look every 7m first 1m
@1m fault lab list empty for 2m
@1m fault lab any error status 503 chance 30 for 2m
@1m fault tasks Live hang count 1
@1m fault ledger writes standby for 90s
@1m fault queue Kick lost for 2m
@1m fault platform Notify error for 2m
@2m crash replica-1 Claim 1 after for 30s
@2m freeze any Terminate 1 before for 3m
@3m lease any Write 2
@3m stop replica-1 for 20s
@3m clock lab jump -5m
@3m clock tasks drift 50ms for 5m
@4m config rule orphan mode=observe
@4m config at replica-1 limits per_pass=2
@4m config version without orphan,duplicate
@5m operator hold task:t1 for 1h
@5m operator unhold task:t1
@5m operator pause all
@5m operator resume all
@5m operator mode orphan observe
@5m operator release breaker:orphan for 1h
@5m operator release-incident all
@5m operator terminate t1 running anyway
@5m operator emergency
@1h5m operator restore task:t1
@1h5m nothing
`

func TestScriptIsWrittenAsItIsRead(t *testing.T) {
	s, err := Parse("well formed", wellFormed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wellFormed, s.String()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

func TestScriptErrors(t *testing.T) {
	cases := map[string]struct{ text, says string }{
		"a verb that nobody has":            {"@1m dance lab", "file:1: no verb"},
		"a seed that is no number":          {"seed x", "file:1: read the seed"},
		"a seed after the setup":            {"process look every 1m\nseed 1", "file:2: `seed` must stand before"},
		"an event before the one above":     {"@2m nothing\n@1m nothing", "file:2: events must stand in the order"},
		"a setup line after an event":       {"@2m nothing\nprocess look every 1m", "file:2: the setup must stand before"},
		"a time that is none":               {"@soon nothing", "file:1: read the time"},
		"a time before the beginning":       {"@-1m nothing", "file:1: read the time"},
		"an event without a verb":           {"@1m", "file:1: an event needs a verb"},
		"a fault of an unknown kind":        {"@1m fault lab list odd", `the kind "odd" is none of`},
		"a fault of a call nobody has":      {"@1m fault lab lists empty", `the call "lists" is none of`},
		"a slow fault without how slow":     {"@1m fault lab list slow", "how slow or stale is missing"},
		"a kick lost by another party":      {"@1m fault ledger any lost", "only the queue"},
		"an option that nobody knows":       {"@1m fault lab list empty since 2m", `unknown word "since"`},
		"a crash without a side":            {"@1m crash once any 3", "the side is missing"},
		"a crash at no call":                {"@1m crash once any 0 after", "which call: 0 is not within"},
		"a freeze without an end":           {"@1m freeze once any 1 after", "for how long is missing"},
		"a process of an unknown kind":      {"process twice every 1m", "a process is once, look or replica-N"},
		"a process that never comes":        {"process once", "how often is missing"},
		"an operator without a wish":        {"@1m operator", "what the operator does is missing"},
		"a mode that is none":               {"@1m operator mode orphan enforce", `the mode "enforce" is none of`},
		"a config that changes nothing":     {"@1m config at replica-1", "what is changed is missing"},
		"a rule that nobody has":            {"@1m config rule dance mode=off", "no rule"},
		"a word that cannot be printed":     {"@1m nothing \x00", "a word that cannot be printed"},
		"a line that is too long":           {"@1m nothing" + strings.Repeat(" x", 50), "more than 40 words"},
		"a file that is too long":           {strings.Repeat("\n", 6000), "more than 5000 lines"},
		"all that is wrong, not only first": {"@1m dance\n@2m sing", "file:2:"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("file", test.text)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("Parse = %v, want an error with %q", err, test.says)
			}
		})
	}
}

// Whatever is read is written and read again as the same.
func FuzzScript(f *testing.F) {
	f.Add(wellFormed)
	files, err := filepath.Glob("../testdata/histories/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("fuzz", text)
		if err != nil {
			return
		}
		again, err := Parse("fuzz", s.String())
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, s)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Errorf("read again it is another (-first +second):\n%s", diff)
		}
	})
}

// The same seed gives the same script, another one another, and all of them are well formed.
func TestGenerate(t *testing.T) {
	texts := map[string]bool{}
	for seed := range uint64(200) {
		s := history.Generate(seed)
		again := history.Generate(seed)
		if s.String() != again.String() {
			t.Fatalf("seed %d gives two scripts", seed)
		}
		parsed, err := Parse("generated", s.String())
		if err != nil || parsed.String() != s.String() {
			t.Errorf("seed %d: %v", seed, err)
		}
		if !slices.IsSortedFunc(s.Events, func(a, b history.Event) int { return int(a.At - b.At) }) {
			t.Errorf("seed %d is not in order", seed)
		}
		texts[s.String()] = true
	}
	if len(texts) != 200 {
		t.Errorf("200 seeds give %d scripts", len(texts))
	}
}
