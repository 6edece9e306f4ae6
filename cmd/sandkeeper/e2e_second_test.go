package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// TestAnywayTakesASecondOperator: where the config names two operators, nothing is recorded with --anyway before the
// other one has shown his password; what was recorded around the verb is withdrawn by the keeper; both names are on record.
func TestAnywayTakesASecondOperator(t *testing.T) {
	a := newArena(t, settings{mode: "observe"})
	dir := filepath.Dir(a.config)
	hash, err := bcrypt.GenerateFromPassword([]byte("bob's own"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"web.yml": "basic_auth_users: {ana: " + string(hash) + ", bob: " + string(hash) + "}\n", "right": "bob's own\n", "wrong": "ana's\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.operatorKey(settings{mode: "observe"})
	alone := filepath.Join(dir, "alone.yaml")
	if err := os.WriteFile(alone, []byte(a.configText()), 0o600); err != nil {
		t.Fatal(err)
	}
	a.configure(settings{mode: "observe", more: withOperatorKey +
		"\nweb: {listen: \"127.0.0.1:0\", config_file: web.yml, operators: [ana, bob]}\nlog: {level: warn}"})
	a.beat(a.working(4))
	one, other, _ := a.box(nobody, time.Second), a.box(nobody, time.Second), a.box(nobody, time.Second)
	a.once(0)
	ask := []string{"terminate", one.ID, "--anyway", "--author", "ana", "--reason", "x"}
	right, wrong := filepath.Join(dir, "right"), filepath.Join(dir, "wrong")
	for says, args := range map[string][]string{
		"takes two operators":         nil,
		"does not name carol":         {"--second", "carol", "--second-password-file", right},
		"are not two operators":       {"--second", "ana", "--second-password-file", right},
		"bob did not say yes":         {"--second", "bob", "--second-password-file", wrong},
		"\"ana, with carol\" and \"b": {"--author", "ana, with carol", "--second", "bob", "--second-password-file", right},
	} {
		if code, _, errs := a.run(append(ask, args...)...); code == 0 || !strings.Contains(errs, says) {
			t.Errorf("%q: exit code %d, %s, want %q", args, code, errs, says)
		}
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.actions"); n != 0 {
		t.Errorf("%d actions were recorded without a second operator", n)
	}
	a.as(alone, "terminate", other.ID, "--anyway", "--author", "ana", "--reason", "by another config")
	a.must(append(ask, "--second", "bob", "--second-password-file", right)...)
	emergency := []string{"emergency", "--anyway", "--author", "ana", "--reason", "x"}
	_, _, errs := a.run(emergency...)
	phrase := regexp.MustCompile(`--confirm "([^"]+)"`).FindStringSubmatch(errs)
	if phrase == nil {
		t.Fatalf("emergency shows nothing to confirm: %s", errs)
	}
	if code, _, errs := a.run(append(emergency, "--confirm", phrase[1])...); code == 0 || !strings.Contains(errs, "takes two operators") {
		t.Errorf("emergency, by one: exit code %d, %s", code, errs)
	}
	a.once(0)
	if !a.ended(one.ID) || a.ended(other.ID) {
		t.Errorf("ended: %v what two asked for, %v what one asked for; want that of two alone", a.ended(one.ID), a.ended(other.ID))
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.actions WHERE sandbox = '" + one.ID + "' AND author = 'ana, with bob'"); n != 1 {
		t.Errorf("%d actions of both names, want 1", n)
	}
}
