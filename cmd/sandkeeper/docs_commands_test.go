package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
)

// TestCommandsInDocs: every command line of ours that a text shows is one that the program takes: its verb, its flags
// with their values and, where it stands as a line of its own, the number of its arguments.
func TestCommandsInDocs(t *testing.T) {
	t.Parallel()
	lines, mentions := 0, 0
	for _, file := range textsOf(t) {
		whole, inside := commandsOf(readFile(t, file))
		lines, mentions = lines+len(whole), mentions+len(inside)
		for _, line := range whole {
			if err := taken(line, true); err != nil {
				t.Errorf("%s: sandkeeper %s: %v", file, line, err)
			}
		}
		for _, line := range inside {
			if err := taken(line, false); err != nil {
				t.Errorf("%s: sandkeeper %s: %v", file, line, err)
			}
		}
	}
	if lines < 40 || mentions < 100 {
		t.Errorf("%d lines and %d mentions of commands were found in the texts, want more", lines, mentions)
	}
}

// textsOf are the texts for people.
func textsOf(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (strings.HasPrefix(d.Name(), ".") ||
			slices.Contains([]string{"testdata", "node_modules", "bin"}, d.Name())):
			return fs.SkipDir
		case filepath.Ext(file) == ".md" && d.Name() != "CHANGELOG.md": // it tells of verbs that are gone
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	ours    = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(?:bin/)?sandkeeper (.+)$`)
	mention = regexp.MustCompile("`sandkeeper\\s+([^`]+)`")
	ended   = regexp.MustCompile(` (?:#|\||&&|\|\||>|<|2>)|;|$`)
)

// commandsOf are the commands of a text: those that are lines of its blocks, and those within sentences.
func commandsOf(text string) (lines, inside []string) {
	for i, part := range strings.Split(text, "```") {
		if i%2 == 0 {
			for _, m := range mention.FindAllStringSubmatch(part, -1) {
				inside = append(inside, strings.Join(strings.Fields(m[1]), " "))
			}
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(part, "\\\n", " ")) {
			if m := ours.FindStringSubmatch(strings.TrimPrefix(strings.TrimSpace(line), "$ ")); m != nil {
				lines = append(lines, strings.TrimSpace(m[1][:ended.FindStringIndex(m[1])[0]]))
			}
		}
	}
	return lines, inside
}

// taken asks the program's own verbs and flags.
func taken(line string, whole bool) error {
	args := withoutMore(shellWords(line))
	c, rest, err := newRoot(console.Stdio{}).Find(args)
	if err != nil {
		return err
	}
	if !c.HasParent() {
		return errors.New("it is no verb")
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if !whole {
		return nil
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		return fmt.Errorf("its arguments: %w", err)
	}
	return nil
}

// withoutMore leaves out the dots that stand for further arguments, and of words to choose from all but the first.
func withoutMore(words []string) (out []string) {
	for i, word := range words {
		if (word == "…" || word == "...") && !strings.HasPrefix(words[i-1], "-") {
			continue
		}
		first, _, _ := strings.Cut(word, "|")
		out = append(out, first)
	}
	return out
}

// shellWords splits a line as a shell does, as far as our texts need it.
func shellWords(line string) []string {
	words := regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`).FindAllString(line, -1)
	for i := range words {
		words[i] = strings.NewReplacer(`"`, "", "'", "").Replace(words[i])
	}
	return words
}

// TestCommandsAreFound: what is taken for a command, and what is wrong with one.
func TestCommandsAreFound(t *testing.T) {
	t.Parallel()
	text := "Say `sandkeeper\nreport` or `sandkeeper-sim x`.\n" +
		"```sh\n$ sandkeeper hold sb-1 \\\n  --reason \"a b\" | cat  # x\n" +
		"A=b sandkeeper plan\nmake sandkeeper x\n```\n"
	lines, inside := commandsOf(text)
	want := []string{`hold sb-1    --reason "a b"`, "plan", "report"}
	if got := slices.Concat(lines, inside); !slices.Equal(got, want) {
		t.Errorf("commands %q, want %q", got, want)
	}
	for line, right := range map[string]bool{
		"plan": true, "plan --quick": true, `hold sb-1 --reason "some words"`: true, "mode orphan observe --reason x": true,
		"plann": false, "plan --quik": false, "hold --reason x": false, "audit vrify": false, "pass quick full": false,
		"explain x -o xml": false, "hold x --for soon": false,
	} {
		if err := taken(line, true); (err == nil) != right {
			t.Errorf("sandkeeper %s: %v, want it taken %t", line, err, right)
		}
	}
}
