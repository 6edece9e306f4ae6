package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestChosen: parts of the story are played in their order and without the long time between them,
// and what is always played stays.
func TestChosen(t *testing.T) {
	t.Parallel()
	story := []scene{
		{at: 10 * time.Second, part: "a"}, {at: time.Minute, part: "b"}, {at: 5 * time.Minute, part: "c"},
		{at: 5*time.Minute + 20*time.Second, part: "c"}, {at: 9 * time.Minute},
	}
	for _, test := range []struct {
		parts []string
		want  []time.Duration
	}{
		{nil, []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 5*time.Minute + 20*time.Second, 9 * time.Minute}},
		{[]string{"b"}, []time.Duration{soonest, soonest + longestGap}},
		{[]string{"c", "a"}, []time.Duration{
			soonest, soonest + longestGap, soonest + longestGap + 20*time.Second, soonest + 2*longestGap + 20*time.Second}},
	} {
		got, err := chosen(story, test.parts)
		if err != nil || len(got) != len(test.want) {
			t.Errorf("%v: %d scenes, %v; want %d", test.parts, len(got), err, len(test.want))
			continue
		}
		for i := range got {
			if got[i].at != test.want[i] {
				t.Errorf("%v: scene %d at %s, want %s", test.parts, i, got[i].at, test.want[i])
			}
		}
	}
}

// TestFlagsThatCannotBe: all of them are told at once, each with what would be right.
func TestFlagsThatCannotBe(t *testing.T) {
	t.Parallel()
	err := (&settings{limit: -time.Minute, speed: 9, parts: []string{"breker"}}).check()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"--limit -1m0s", "--speed 9", `--scene breker: the story has no such part: did you mean "breaker"?`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// TestPaced: a story at another speed takes so much of its time.
func TestPaced(t *testing.T) {
	t.Parallel()
	for speed, want := range map[float64]time.Duration{0.5: 2, 1: 1, 4: 0} {
		day := (&script{}).day()
		took := length(day)
		if want *= took; want == 0 {
			want = (took / 4).Round(time.Second)
		}
		if got := length(paced(day, speed)); got != want {
			t.Errorf("at %g times the speed the day takes %s, want %s", speed, got, want)
		}
	}
}

// TestPartOfTheDay: one part is played alone, watched by a real Prometheus that has the rules and reads
// the daemon; what it wrote is left, and can be opened by the commands that it prints.
func TestPartOfTheDay(t *testing.T) {
	t.Parallel()
	folder := shortFolder(t)
	t.Cleanup(func() { os.RemoveAll(folder) })
	p := playDemo(t, "--scene", "vanish", "--hurry", "--keep", "--with-prometheus", "--folder", folder)
	p.reaches(t, "a Prometheus that reads the metrics", func() bool {
		found := regexp.MustCompile(`(http://\S+) \(Prometheus`).FindStringSubmatch(p.said.String())
		return found != nil && reads(t, found[1])
	})
	p.reaches(t, "what was repaired", func() bool { return strings.Contains(p.said.String(), "all well") })
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.done
	out := p.said.String()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 || strings.Contains(out, "throttles") {
		t.Fatalf("exit code %d, or more than the part:\n%s", code, out)
	}
	if report := openKept(t, out); !strings.Contains(report, "heartbeat-lost") {
		t.Errorf("the report of what was kept does not tell of the rule:\n%s", report)
	}
}

// reads reports whether a Prometheus scrapes the daemon and has its alert rules.
func reads(t *testing.T, at string) bool {
	t.Helper()
	var up, rules struct {
		Data struct {
			Result []struct{ Value [2]any }
			Groups []struct{ Rules []struct{ Name string } }
		}
	}
	ask(t, at+"api/v1/query?query=up", &up)
	ask(t, at+"api/v1/rules?type=alert", &rules)
	return len(up.Data.Result) == 1 && up.Data.Result[0].Value[1] == "1" && len(rules.Data.Groups) > 0
}

func ask(t *testing.T, url string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return // not yet
	}
	defer answer.Body.Close()
	_ = json.NewDecoder(answer.Body).Decode(into)
}

// openKept starts the database that a demo has left, as it says, and reads the report as it says.
func openKept(t *testing.T, said string) string {
	t.Helper()
	commands := regexp.MustCompile(`(?m)^  ((?:setpriv .* )?\S+/postgres'? -D .*|\S+ -c \S+ report)$`).FindAllStringSubmatch(said, -1)
	if len(commands) < 2 {
		t.Fatalf("it does not say how to open what it left:\n%s", said)
	}
	server, report := commands[len(commands)-2][1], commands[len(commands)-1][1]
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, "sh", "-c", "exec "+server)
	c.Dir, c.Cancel = filepath.Dir(os.TempDir()), func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = c.Wait() })
	var out []byte
	reaches(t, "a report", func() (ok bool) {
		var err error
		out, err = exec.CommandContext(ctx, "sh", "-c", report).CombinedOutput()
		return err == nil
	})
	return string(out)
}
