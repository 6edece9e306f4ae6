package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

// called is one call of the program that needs no config.
func called(t *testing.T, line string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = execute(t.Context(), strings.Fields(line), console.Stdio{Out: &o, Err: &e})
	return code, o.String(), e.String()
}

// TestWrongUsage: one exit code, what was probably meant, and where to look; nothing on stdout.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for line, c := range map[string]struct {
		code int
		says string // "" when nothing is near
		help string
	}{
		"plann":                           {verb.WrongUsage, `"plann" is no verb of sandkeeper; did you mean "plan"?`, "sandkeeper help"},
		"victims i-1":                     {verb.WrongUsage, `did you mean "affected"?`, "sandkeeper help"},
		"zzz":                             {verb.WrongUsage, `"zzz" is no verb of sandkeeper`, "sandkeeper help"},
		"audit vrify":                     {verb.WrongUsage, `"vrify" is no verb of audit; did you mean "verify"?`, "sandkeeper help audit"},
		"alerts rules more":               {verb.WrongUsage, `rules takes no argument, and was given "more"`, "sandkeeper help alerts rules"},
		"help plann":                      {verb.WrongUsage, `did you mean "plan"?`, "sandkeeper help"},
		"help audit vrify":                {verb.WrongUsage, `did you mean "verify"?`, "sandkeeper help"},
		"completion bsh":                  {verb.WrongUsage, `did you mean "bash"?`, "sandkeeper help completion"},
		"once --quik":                     {verb.WrongUsage, `did you mean "--quick"?`, "sandkeeper help once"},
		"once --zzz":                      {verb.WrongUsage, "unknown flag: --zzz", "sandkeeper help once"},
		"once --timeout":                  {verb.WrongUsage, "flag needs an argument: --timeout", "sandkeeper help once"},
		"once x":                          {verb.WrongUsage, `once takes no argument, and was given "x"`, "sandkeeper help once"},
		"once -o jsn":                     {verb.WrongUsage, `--output jsn: did you mean "json"?`, "sandkeeper help once"},
		"explain x -o xml":                {verb.WrongUsage, "--output xml: known are text, json", "sandkeeper help explain"},
		"affected -o yaml":                {verb.WrongUsage, "--output yaml: known are ids, json, sql", "sandkeeper help affected"},
		"report -o=":                      {verb.WrongUsage, "known are text, json", "sandkeeper help report"},
		"affected a b":                    {verb.WrongUsage, "affected takes at most 1 argument, and was given 2", "sandkeeper help affected"},
		"pause rule orphan now":           {verb.WrongUsage, "pause takes at most 2 arguments", "sandkeeper help pause"},
		"pass quik":                       {verb.WrongUsage, `pass has no "quik"; did you mean "quick"?`, "sandkeeper help pass"},
		"pass quick full":                 {verb.WrongUsage, "pass takes at most 1 argument", "sandkeeper help pass"},
		"hold":                            {verb.WrongUsage, "hold needs one TARGET", "sandkeeper help hold"},
		"mode orphan":                     {verb.WrongUsage, "mode needs one RULE and one MODE", "sandkeeper help mode"},
		"mode orphann observe":            {verb.WrongUsage, `no rule "orphann"; did you mean "orphan"?`, "sandkeeper help mode"},
		"terminate sb-1 -c /nowhere":      {verb.WrongUsage, "--reason is required", "sandkeeper help terminate"},
		"hold x --for soon":               {verb.WrongUsage, `"soon" is not a duration`, "sandkeeper help hold"},
		"plan --quik":                     {verb.WrongUsage, `did you mean "--quick"?`, "sandkeeper help plan"},
		"plan x":                          {verb.WrongUsage, "plan takes no argument", "sandkeeper help plan"},
		"plan x --detailed-exitcode":      {1, "plan takes no argument", "sandkeeper help plan"},
		"plan --quik --detailed-exitcode": {1, `did you mean "--quick"?`, "sandkeeper help plan"},
	} {
		code, out, errs := called(t, line)
		if code != c.code || out != "" || !strings.Contains(errs, c.says) || !strings.HasSuffix(errs, " see `"+c.help+"`\n") {
			t.Errorf("%s: exit code %d, want %d, %q and `%s`:\n%s%s", line, code, c.code, c.says, c.help, out, errs)
		}
	}
}

// TestHelpIsNoMistake: what asks for help, and a verb that only has verbs below it.
func TestHelpIsNoMistake(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "help", "--help", "help plan", "help audit verify", "help help", "audit", "alerts", "plan --help"} {
		if code, out, errs := called(t, line); code != 0 || errs != "" || !strings.Contains(out, "Usage:") {
			t.Errorf("sandkeeper %s: exit code %d\n%s%s", line, code, out, errs)
		}
	}
}

// TestVersion: the flag that everybody tries says what the verb does.
func TestVersion(t *testing.T) {
	t.Parallel()
	_, want, _ := called(t, "version")
	for _, line := range []string{"--version", "-v"} {
		if code, out, errs := called(t, line); code != 0 || out != want || errs != "" || !strings.HasPrefix(out, "sandkeeper ") {
			t.Errorf("%s: exit code %d, %q, want %q\n%s", line, code, out, want, errs)
		}
	}
}
