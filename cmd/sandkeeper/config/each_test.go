package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const pooled = `installation: prod
database: postgres://db.example/x
tasks: {preset: omoios, columns: {provider: engine}}
providers:
  - name: docker-{each}
    each: [eu, us]
    kind: docker
    url: https://{each}.engines.example
    rows: ["pool-{each}", "{each}-*"]
    owns: {labels: {project: omoios, at: "{each}"}}
    link: {task_label: task_id}
  - name: daytona
    kind: daytona
    token: t0ken
    owns: {labels: {project: omoios}}
    link: {task_label: task_id}
`

// TestEach: one entry of the file is one for each engine, with its own values.
func TestEach(t *testing.T) {
	file := filepath.Join(t.TempDir(), "engines")
	if err := os.WriteFile(file, []byte("# ours\neu\n\n us \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for how, text := range map[string]string{
		"listed":    pooled,
		"in a file": strings.Replace(pooled, "each: [eu, us]", "each_file: "+file, 1),
		"variables": strings.Replace(pooled, "each: [eu, us]", "each: [\"${EACH:-eu}\", us]", 1),
	} {
		t.Run(how, func(t *testing.T) {
			c, err := Parse("c.yaml", []byte(text), soundEnv)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range c.Entries() {
				names = append(names, e.Name+" "+e.URL+" "+e.Owns.Labels["at"])
			}
			want := []string{"docker-eu https://eu.engines.example eu", "docker-us https://us.engines.example us",
				"daytona https://app.daytona.io/api "}
			if !slices.Equal(names, want) {
				t.Errorf("entries %q, want %q", names, want)
			}
			rows := c.Mapping().Entries
			if !slices.Equal(rows[1].Rows, []string{"pool-us", "us-*"}) || len(rows[2].Rows) > 0 {
				t.Errorf("rows hold %v", rows)
			}
			if read := slices.Contains(c.Files, file); read != (how == "in a file") {
				t.Errorf("files that are watched: %q", c.Files)
			}
		})
	}
}

// TestEachIsChecked: whatever is wrong with the copies, and in them, is told at once, and once.
func TestEachIsChecked(t *testing.T) {
	for what, one := range map[string]struct {
		old, new string
		want     []string
	}{
		"a name that is the same for all": {"docker-{each}", "docker", []string{"write {each} into it"}},
		"a name twice":                    {"[eu, us]", "[eu, eu]", []string{`"eu" is given twice`}},
		"no name":                         {"[eu, us]", "[eu, a/b]", []string{`"a/b" is not a name`, "`rows`"}},
		"none":                            {"[eu, us]", "[]", []string{"names nothing"}},
		"no list":                         {"[eu, us]", "eu", []string{"must be a list"}},
		"both":                            {"[eu, us]", "[eu]\n    each_file: x", []string{"is given together with each"}},
		"no file":                         {"each: [eu, us]", "each_file: /nowhere/engines", []string{"read /nowhere/engines"}},
		"one word for two entries":        {`"pool-{each}"`, "pool", []string{`"pool" is also what rows of "docker-eu" hold`}},
		"an empty word":                   {`"pool-{each}"`, `""`, []string{"is empty; write what the rows hold"}},
		"no column": {"columns: {provider: engine}", "columns: {}",
			[]string{"no column says where the sandbox of a row is; map tasks.columns.provider"}},
		"wrong in each, and elsewhere": {"    kind: docker\n    url: https", "    kind: dcker\n    timeout: fast\n    url: https",
			[]string{`unknown kind "dcker"; did you mean "docker"?`, `"fast"`}},
	} {
		t.Run(what, func(t *testing.T) {
			text := strings.Replace(pooled, one.old, one.new, 1)
			_, err := Parse("c.yaml", []byte(text), soundEnv)
			if text == pooled || err == nil {
				t.Fatalf("it was taken: %v", err)
			}
			for _, want := range one.want {
				if n := strings.Count(err.Error(), want); n != 1 {
					t.Errorf("%q is said %d times, want once:\n%v", want, n, err)
				}
			}
			if lines := strings.Count(err.Error(), "\n") + 1; lines > len(one.want) {
				t.Errorf("%d mistakes are told, want at most %d:\n%v", lines, len(one.want), err)
			}
		})
	}
}
