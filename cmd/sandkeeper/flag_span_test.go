package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

// TestTimesOfFlags walks all flags of all verbs: each that takes a time refuses what has no
// meaning, before anything is opened, and says how it is written right.
func TestTimesOfFlags(t *testing.T) {
	t.Parallel()
	none := []string{"once --wait", "restore --for"} // where 0 has a meaning
	var seen []string
	for _, c := range allCommands(newRoot(console.Stdio{Out: io.Discard, Err: io.Discard})) {
		for _, f := range visited(c.Flags().VisitAll) {
			s, ours := f.Value.(*verb.SpanValue)
			if f.Value.Type() == "duration" && !ours {
				t.Errorf("%s --%s is a duration that takes -4h; use verb.Span", c.Name(), f.Name)
			}
			if !ours {
				continue
			}
			name := c.Name() + " --" + f.Name
			seen = append(seen, name)
			wrong := []string{"-4h", "-1ns", "-30d", "later", "", "4"}
			if s.Zero != slices.Contains(none, name) {
				t.Errorf("%s takes 0: %t", name, s.Zero)
			}
			if !s.Zero {
				wrong = append(wrong, "0", "0s", "-0s")
			}
			for _, text := range wrong {
				refusesTime(t, c, f.Name, text)
			}
			for _, text := range []string{"90s", "1d12h"} {
				if err := f.Value.Set(text); err != nil {
					t.Errorf("%s %s: %v", name, text, err)
				}
			}
			if *s.Value != 36*time.Hour {
				t.Errorf("%s 1d12h is read as %s", name, *s.Value)
			}
		}
	}
	for _, name := range append(none, "hold --for", "pause --for", "release --for", "once --timeout", "report --since") {
		if !slices.Contains(seen, name) {
			t.Errorf("%s is not among the flags that take a time: %q", name, seen)
		}
	}
}

// refusesTime calls a verb with a time that its flag does not take.
func refusesTime(t *testing.T, c *cobra.Command, flag, text string) {
	t.Helper()
	path := strings.Fields(c.CommandPath())[1:]
	for _, given := range [][]string{{"--" + flag, text}, {"--" + flag + "=" + text}} {
		args := append(slices.Clone(path), given...)
		var out, errs bytes.Buffer
		code := execute(t.Context(), append(args, "-c", "/nowhere"), console.Stdio{Out: &out, Err: &errs})
		right := "write it like `" + c.CommandPath() + strings.TrimPrefix(c.Use, c.Name()) + " --" + flag + " "
		if code != verb.WrongUsage || !strings.Contains(errs.String(), right) || out.Len() > 0 {
			t.Errorf("%q: exit code %d, want %d and %q:\n%s%s", args, code, verb.WrongUsage, right, out.String(), errs.String())
		}
		if text == "-4h" && !strings.Contains(errs.String(), right+"4h`") {
			t.Errorf("%q: the form is not that of the time that was meant:\n%s", args, errs.String())
		}
	}
}

// TestWrongFlags: what no verb knows is wrong usage too.
func TestWrongFlags(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"once --bogus": verb.WrongUsage, "hold --for": verb.WrongUsage, "mode orphan observe --for 1h": verb.WrongUsage,
		"once --quick=perhaps": verb.WrongUsage, "--bogus": verb.WrongUsage, "plan --bogus": verb.WrongUsage,
		"plan --detailed-exitcode --bogus": 1, "plan --bogus --detailed-exitcode=true": 1,
	} {
		var out, errs bytes.Buffer
		if code := execute(t.Context(), strings.Fields(line), console.Stdio{Out: &out, Err: &errs}); code != want || errs.Len() == 0 {
			t.Errorf("%s: exit code %d, want %d:\n%s%s", line, code, want, out.String(), errs.String())
		}
	}
}

// allCommands are the verbs, and the verbs below them.
func allCommands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, below := range c.Commands() {
		all = append(all, allCommands(below)...)
	}
	return all
}

// visited is what a function visits, as a list.
func visited[T any](visit func(func(T))) (all []T) {
	visit(func(x T) { all = append(all, x) })
	return all
}
