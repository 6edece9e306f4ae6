package main

import (
	"os"
	program "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the programs that lines of the documents call and that are not run here, each with who tries the line or
// why nobody can. A line that begins with another word fails TestDocsInALivingWorld.
var elsewhere = map[string]string{
	"make":     "TestMakeInDocs; the demo: TestDemoInDocs",
	"export":   "it sets a variable",
	"curl":     "the API's own tests ask each route",
	"go":       "TestAdaptersMeetThem of cmd/sandkeeper-sim; a push needs a registry",
	"createdb": "every database of these tests is made so",
	"kubectl":  "make test-engine-kubernetes; there is no cluster here",
	"helm":     "TestChart and TestChartIsRendered of deploy",
	"docker":   "TestCompose of deploy reads the file; there is no engine here",
	"fly":      "it is a service of others",
	"npm":      "make test-worker",
	"npx":      "make test-worker; a deploy is a service of others",
	"openssl":  "it ends in a service of others",
	"{":        "it needs htpasswd, which comes with a web server",
}

// TestDocsInALivingWorld: each command of ours that is a line of a document's block is run against a living world, as
// the runbooks' are. So is what a document says to do with psql, pg_dump and a shell alone; the rest is in elsewhere.
func TestDocsInALivingWorld(t *testing.T) {
	n := newNight(t)
	n.env = append(n.env, "TASKS_DATABASE_URL="+n.dsn, "DATABASE_URL="+n.dsn)
	folder := t.TempDir() // of the shells
	for _, file := range textsOf(t) {
		if strings.Contains(file, "runbooks") {
			continue // TestRunbooksInALivingWorld
		}
		text := readFile(t, file)
		lines, _ := commandsOf(text)
		for _, line := range lines {
			n.follows(file, withoutMore(shellWords(line)))
		}
		for _, block := range shellBlocks(text) {
			n.shell(file, folder, block)
		}
	}
	if len(n.typed) < 12 {
		t.Errorf("%d different commands were run: they are written in a way that this test does not see", len(n.typed))
	}
	n.once(0) // what a document said to do left a world that goes on
}

// follows does what a line says. What stays, and what writes a config, are tried in their own way.
func (n *night) follows(where string, args []string) {
	n.Helper()
	switch about := strings.Join(args, " "); {
	case n.typed[about]:
	case args[0] == "run":
		n.typed[about] = true
		n.configure(settings{more: quickly})
		d := n.daemon("run")
		d.get("/healthz")
		d.stop()
	case args[0] == "init":
		n.typed[about] = true
		args = slices.Clone(args)
		if i := slices.Index(args, "--output"); i >= 0 {
			args[i+1] = filepath.Join(n.TempDir(), args[i+1])
		}
		if out, err := n.prepare(args...).cmd.Output(); err != nil || !strings.Contains(string(out), "wrote ") {
			n.Errorf("%s: sandkeeper %s: %v\n%s", where, about, err, out)
		}
	case args[0] == "alerts": // its words are others' words for what is unknown
		n.must(args...)
	default:
		n.types(where, append([]string{"sandkeeper"}, args...))
	}
}

// shellBlocks are the blocks of a document that are for a shell.
func shellBlocks(text string) (blocks []string) {
	for i, part := range strings.Split(text, "```") {
		if code, is := strings.CutPrefix(part, "sh\n"); is && i%2 == 1 {
			blocks = append(blocks, code)
		}
	}
	return blocks
}

// shell runs a block that asks only for the ledger, or for nothing outside. Of the others it looks that somebody tries
// what each line begins with.
func (n *night) shell(where, folder, block string) {
	n.Helper()
	first, _, _ := strings.Cut(strings.TrimSpace(block), " ")
	if slices.Contains([]string{"pg_dump", "psql", "(umask"}, first) && !strings.Contains(block, "ADMIN_URL") {
		c := program.CommandContext(n.Context(), "sh", "-e", "-c", block)
		c.Dir, c.Env = folder, append(os.Environ(), "DATABASE_URL="+n.dsn)
		if said, err := c.CombinedOutput(); err != nil {
			n.Errorf("%s: %v\n%s\n%s", where, err, block, said)
		}
		return
	}
	if strings.Contains(block, "ADMIN_URL") {
		return // TestGrantsAreEnough here, TestProgramWithItsRoles of deploy: roles are of the whole server
	}
	for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		inside := strings.HasPrefix(line, " ") || strings.HasPrefix(word, "#") || word == ""
		if !inside && elsewhere[word] == "" && word != "sandkeeper" {
			n.Errorf("%s: nobody runs %q", where, strings.TrimSpace(line))
		}
	}
}
