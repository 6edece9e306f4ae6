package sandkeeper

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// made are the calls of make in a text: in its lines of code, and in the middle of a sentence.
var made = regexp.MustCompile("(?m)(?:^|`)make ((?:[a-zA-Z][^`#\n]*)?)")

// TestMakeInDocs: each target that a text names is one, and so is each variable.
func TestMakeInDocs(t *testing.T) {
	makefile := read(t, "Makefile")
	seen := 0
	for _, name := range markdown(t) {
		for _, m := range made.FindAllStringSubmatch(codeOf(read(t, name)), -1) {
			seen++
			for _, word := range strings.Fields(m[1]) {
				if !makes(makefile, word) {
					t.Errorf("%s says make %s: the Makefile has no %s", name, m[1], word)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d calls of make were found in the texts, want more", seen)
	}
}

// makes reports whether a word of a call is a target or sets a variable of the Makefile. What is quoted belongs to the
// variable before it.
func makes(makefile, word string) bool {
	if name, _, sets := strings.Cut(word, "="); sets {
		return strings.Contains(makefile, "$("+name) || strings.HasPrefix(word, "-")
	}
	return strings.Contains(makefile, "\n"+word+":") || strings.HasPrefix(word, "-")
}

// codeOf leaves of a text what is set as code, in its lines and between backticks.
func codeOf(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			b.WriteString(part)
			continue
		}
		for _, m := range regexp.MustCompile("`[^`]+`").FindAllString(part, -1) {
			b.WriteString("\n" + strings.Join(strings.Fields(m), " ") + "\n")
		}
	}
	return b.String()
}

// markdown are all texts of the tree.
func markdown(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") ||
			slices.Contains([]string{"testdata", "node_modules", "bin"}, d.Name())):
			return fs.SkipDir
		case filepath.Ext(file) == ".md":
			files = append(files, file)
		}
		return nil
	})
	if err != nil || len(files) < 60 {
		t.Fatalf("%d texts, error %v", len(files), err)
	}
	return files
}

// TestCodeOfTexts: the calls of make are found where they are written.
func TestCodeOfTexts(t *testing.T) {
	text := "run `make\ncheck test`, or\n\n```sh\nmake size   # slow\nmake sim PASSES=1 \n```\nmake nothing of it"
	var got []string
	for _, m := range made.FindAllStringSubmatch(codeOf(text), -1) {
		got = append(got, strings.TrimSpace(m[1]))
	}
	if want := []string{"check test", "size", "sim PASSES=1"}; !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
	if makes("\nsize: x\n", "sizes") || makes("\nsize: $(FOR)\n", "PASSES=1") || !makes("\nsize: $(FOR)\n", "FOR=1") {
		t.Error("a word is taken for what the Makefile does not have")
	}
}
