package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A sight is what the replicas said of themselves while a fault was on.
type sight struct {
	looks int
	lines map[string]int // of /readyz, that are not ready
	pages []string       // their texts, each once
	dead  []string       // what /healthz answered instead of ok
}

// watchFor looks at the replicas for a time, one after the other.
func (s *siege) watchFor(d time.Duration) {
	s.Helper()
	for until := time.Now().Add(d); time.Now().Before(until); s.pass(100 * time.Millisecond) {
		r := s.replicas[s.seen.looks%len(s.replicas)]
		s.seen.looks++
		s.look(r)
	}
}

// patient is a client with more time than a page takes for a ledger that does not answer.
var patient = &http.Client{Timeout: 10 * time.Second}

func (s *siege) look(d *daemonChild) {
	s.Helper()
	if d.over() && s.endedByTest(d) {
		return // by the test, and not back yet
	}
	if d.over() {
		s.Fatalf("replica of process %d ended:\n%s", d.cmd.Process.Pid, tail(d.errs.String(), 3000))
	}
	at := strings.TrimSuffix(d.url(), "/")
	if status, text := s.get(patient, at+"/healthz"); status != http.StatusOK {
		s.seen.dead = append(s.seen.dead, fmt.Sprintf("%d %s", status, text))
	}
	if _, text := s.get(patient, at+"/readyz"); true {
		s.seen.ready(text)
	}
	_, text := s.get(patient, at+"/")
	s.noSecretsIn("the page", text)
	if text = plainText(text); !slices.Contains(s.seen.pages, text) && len(s.seen.pages) < 500 {
		s.seen.pages = append(s.seen.pages, text)
	}
}

// endedByTest reports whether the test itself has ended a replica.
func (s *siege) endedByTest(d *daemonChild) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ended := s.killed[d.cmd.Process.Pid]
	return ended
}

func (v *sight) ready(text string) {
	if v.lines == nil {
		v.lines = map[string]int{}
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !strings.HasSuffix(line, ": ok") {
			v.lines[line]++
		}
	}
}

var tags = regexp.MustCompile(`(?s)<(script|style).*?</(script|style)>|<[^>]*>`)

// plainText is what a person reads of a page.
func plainText(html string) string {
	return strings.Join(strings.Fields(tags.ReplaceAllString(html, " ")), " ")
}

// unsaid is what has to be said of a fault and was not.
func (s *siege) unsaid(f fault) (out []string) {
	s.Helper()
	if f.ready != "" && s.seen.lines[f.ready+": not ready"] == 0 {
		out = append(out, fmt.Sprintf("/readyz never said that %q is not ready: %v", f.ready, s.seen.lines))
	}
	if f.page != "" && !slices.ContainsFunc(s.seen.pages, regexp.MustCompile(f.page).MatchString) {
		out = append(out, fmt.Sprintf("no page said %q; the last: %s", f.page, s.lastPage()))
	}
	if said := s.trouble(); f.log != "" && !slices.ContainsFunc(said, regexp.MustCompile(f.log).MatchString) {
		out = append(out, fmt.Sprintf("no log said %q:\n\t%s", f.log, strings.Join(said, "\n\t")))
	}
	return out
}

// demand compares what was said, and what the recovery took, with what has to be.
func (s *siege) demand(f fault) {
	s.Helper()
	if len(s.seen.dead) > 0 {
		s.Errorf("/healthz was not ok: %s", s.seen.dead)
	}
	for _, what := range s.unsaid(f) {
		s.Error(what)
	}
	most := f.passes
	if most == 0 {
		most = 12
	}
	if s.recovery.passes > most {
		s.Errorf("it took %d passes to recover, want at most %d", s.recovery.passes, most)
	}
	s.Logf("not ready: %v; page: %s; log: %s", s.seen.lines, s.lastPage(), strings.Join(s.trouble(), "\n\t"))
}

func (s *siege) lastPage() string {
	if len(s.seen.pages) == 0 {
		return "none"
	}
	last := s.seen.pages[len(s.seen.pages)-1]
	return last[:min(len(last), 600)]
}

// trouble are the warnings and errors in the logs of all replicas, each once.
func (s *siege) trouble() (out []string) {
	for _, d := range s.replicas {
		for _, l := range d.lines() {
			if level := l.text("level"); level != "WARN" && level != "ERROR" {
				continue
			}
			text := l.text("msg")
			for _, key := range []string{"said", "err", "reason", "detail"} {
				if _, ok := l[key]; ok {
					text += ": " + l.text(key)
				}
			}
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// noSecretsAt looks for what was planted in everything that a replica shows.
func (s *siege) noSecretsAt(d *daemonChild) {
	s.Helper()
	s.noSecretsIn("the log", d.errs.String())
	for _, path := range []string{"/", "/readyz", "/metrics"} {
		_, text := d.get(path)
		s.noSecretsIn(path, text)
	}
}

func (s *siege) noSecretsIn(what, text string) {
	s.Helper()
	for _, secret := range []string{plantedPassword, plantedKey} {
		if i := strings.Index(text, secret); i >= 0 {
			s.Errorf("%s shows a secret: …%s…", what, text[max(0, i-200):min(len(text), i+60)])
		}
	}
}
