package deploy

import (
	"context"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// An instruction is one line of a Dockerfile, with those that it goes on in.
type instruction struct{ name, rest string }

func instructions(text string) []instruction {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	var out []instruction
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.Join(lines, "\n"), "\\\n", " "), "\n") {
		name, rest, _ := strings.Cut(line, " ")
		out = append(out, instruction{strings.ToUpper(name), strings.TrimSpace(rest)})
	}
	return out
}

// imageProblems are the reasons not to run such an image.
func imageProblems(text string) []string {
	var found []string
	last := map[string]string{} // of the final stage
	for _, i := range instructions(text) {
		if i.name == "FROM" {
			clear(last)
		}
		last[i.name] = i.rest
		if problem := i.problem(); problem != "" {
			found = append(found, problem)
		}
	}
	for name, want := range map[string]string{
		"FROM": "scratch", "USER": "65532:65532", "STOPSIGNAL": "SIGTERM", "ENTRYPOINT": `["/sandkeeper"]`,
	} {
		if last[name] != want {
			found = append(found, fmt.Sprintf("the final stage has %s %q, want %q", name, last[name], want))
		}
	}
	slices.Sort(found)
	return found
}

var pinned = regexp.MustCompile(`^(--platform=\S+ )?\S+:\d[\w.-]*( AS \w+)?$`)

func (i instruction) problem() string {
	switch {
	case i.name == "ADD":
		return "ADD fetches and unpacks: use COPY"
	case i.name == "FROM" && i.rest != "scratch" && !pinned.MatchString(i.rest):
		return "FROM " + i.rest + " has no version"
	case i.name == "RUN" && strings.Contains(i.rest, "://"):
		return "RUN fetches from an address"
	case (i.name == "ENV" || i.name == "ARG") && strings.Contains(i.rest, "="):
		return i.name + " bakes a setting into the image"
	}
	return ""
}

func TestDockerfile(t *testing.T) {
	sound := read(t, "Dockerfile")
	cases := map[string]struct {
		from, to string
		want     []string
	}{
		"as it is": {},
		"runs as root": {"USER 65532:65532", "",
			[]string{`the final stage has USER "", want "65532:65532"`}},
		"a user by name": {"USER 65532:65532", "USER nobody",
			[]string{`the final stage has USER "nobody", want "65532:65532"`}},
		"the user of another stage": {"FROM scratch", "USER 65532:65532\nFROM alpine:3",
			[]string{`the final stage has FROM "alpine:3", want "scratch"`}},
		"a base without a version": {"golang:1.26-bookworm", "golang",
			[]string{"FROM --platform=$BUILDPLATFORM golang AS build has no version"}},
		"the newest base": {"golang:1.26-bookworm", "golang:latest",
			[]string{"FROM --platform=$BUILDPLATFORM golang:latest AS build has no version"}},
		"a file of the network": {"COPY . .", "ADD https://example.com/x .",
			[]string{"ADD fetches and unpacks: use COPY"}},
		"a shell around the program": {`ENTRYPOINT ["/sandkeeper"]`, "ENTRYPOINT /sandkeeper",
			[]string{`the final stage has ENTRYPOINT "/sandkeeper", want "[\"/sandkeeper\"]"`}},
		"a secret in the image": {"STOPSIGNAL", "ENV KEY=1\nSTOPSIGNAL",
			[]string{"ENV bakes a setting into the image"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(sound, c.from, c.to)
			if c.from != "" && text == sound {
				t.Fatalf("the Dockerfile has no %q", c.from)
			}
			if c.from == "" {
				text = sound
			}
			if got := imageProblems(text); !slices.Equal(got, c.want) {
				t.Errorf("imageProblems = %q, want %q", got, c.want)
			}
		})
	}
}

// TestImageHasTheGoOfTheModule: another Go in the image is another program than was tested.
func TestImageHasTheGoOfTheModule(t *testing.T) {
	want := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "../go.mod"))
	if want == nil || !strings.Contains(read(t, "Dockerfile"), "golang:"+want[1]+"-") {
		t.Errorf("the Dockerfile does not build with the Go of go.mod, %q", want)
	}
}

// TestContextHasAllThatGitHas: a tracked file that is left out of the build's context makes
// the checkout look changed, and the version would say so.
func TestContextHasAllThatGitHas(t *testing.T) {
	plain := func(line string) string { return strings.Trim(strings.TrimPrefix(strings.TrimSpace(line), "**/"), "/") }
	var ignored []string
	for line := range strings.Lines(read(t, "../.gitignore")) {
		ignored = append(ignored, plain(line))
	}
	for line := range strings.Lines(read(t, "../.dockerignore")) {
		if p := plain(line); !strings.HasPrefix(p, "#") && !slices.Contains(ignored, p) {
			t.Errorf(".dockerignore leaves out %s, which git does not ignore", p)
		}
	}
}

// buildLine is the line of the Dockerfile that builds the program.
func buildLine(t *testing.T) string {
	t.Helper()
	for _, i := range instructions(read(t, "Dockerfile")) {
		if i.name == "RUN" && strings.Contains(i.rest, "go build") {
			return i.rest
		}
	}
	t.Fatal("the Dockerfile has no line that builds")
	return ""
}

// build runs the line for this machine, into a directory of ours, and without asking git,
// which refuses a checkout of another owner.
func build(line, dir string) error {
	const target = "/out/sandkeeper"
	if strings.Count(line, target) != 1 {
		return fmt.Errorf("the line %q does not build %s", line, target)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute) // all of it is compiled, beside other tests
	defer cancel()
	return shell(ctx, strings.Replace(line, target, filepath.Join(dir, "sandkeeper"), 1),
		"TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH, "GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false")
}

// TestProgramOfTheImage: an empty image has no loader, no libraries and no time zones.
func TestProgramOfTheImage(t *testing.T) {
	path := program(t)
	if runtime.GOOS == "linux" {
		needsNothing(t, path)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	for key, want := range map[string]string{"CGO_ENABLED": "0", "-trimpath": "true", "-tags": "timetzdata,nopgxregisterdefaulttypes"} {
		if settings[key] != want {
			t.Errorf("built with %s=%q, want %q", key, settings[key], want)
		}
	}
	if got := call(t, nil, "version"); got.code != 0 || !strings.HasPrefix(got.out, "sandkeeper ") {
		t.Errorf("version with an empty environment: %s", got)
	}
}

func needsNothing(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program asks for a loader, which the image has not: it is not static")
		}
	}
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("libraries = %q, %v, want none", libraries, err)
	}
}
