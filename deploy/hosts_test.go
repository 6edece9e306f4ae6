package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// graces are the places that say how long a stop may take, each with the words around the number of seconds.
var graces = map[string]string{
	"kustomize/cronjob/once.yaml":            `terminationGracePeriodSeconds: (\d+)`,
	"kustomize/cronjob/serve.yaml":           `terminationGracePeriodSeconds: (\d+)`,
	"kustomize/deployment/run.yaml":          `terminationGracePeriodSeconds: (\d+)`,
	"kustomize/migrate/migrate.yaml":         `terminationGracePeriodSeconds: (\d+)`,
	"kustomize/sidecar/pod.yaml":             `# it (\d+) s or more`,
	"helm/sandkeeper/templates/_helpers.tpl": `terminationGracePeriodSeconds: (\d+)`,
	"helm/sandkeeper/templates/NOTES.txt":    `\n(\d+) s or more`,
	"compose/compose.yaml":                   `stop_grace_period: (\d+)s`,
	"compose/README.md":                      `Compose gives it (\d+) s`,
	"systemd/sandkeeper.service":             `TimeoutStopSec=(\d+)s`,
	"systemd/sandkeeper-once.service":        `TimeoutStopSec=(\d+)s`,
	"fly/fly.toml":                           `kill_timeout = (\d+) `,
	"fly/README.md":                          "`kill_timeout` gives it (\\d+) s",
	"railway/railway.json":                   `"drainingSeconds": (\d+)`,
	"railway/README.md":                      "`drainingSeconds` gives it (\\d+) s",
	"Dockerfile":                             `stop it with (\d+) s of patience`,
	"README.md":                              `give it (\d+) s, as all that is here does`,
}

// TestGracePeriodsAreOne: how long a stop may take is one number, wherever it is said, and more than the program needs.
func TestGracePeriodsAreOne(t *testing.T) {
	for file, words := range graces {
		found := regexp.MustCompile(words).FindAllStringSubmatch(read(t, file), -1)
		if len(found) == 0 {
			t.Errorf("%s does not say how long a stop may take", file)
		}
		for _, m := range found {
			if m[1] != "40" {
				t.Errorf("%s gives a stop %s s, want 40", file, m[1])
			}
		}
	}
	if !strings.Contains(read(t, "../store/queue/queue.go"), "grace: 25 * time.Second") {
		t.Error("a stop no longer takes up to 25 s: say so in the files above")
	}
}

// TestEveryGraceIsKnown: a file of deploy that gives a stop some time is in the list above.
func TestEveryGraceIsKnown(t *testing.T) {
	says := regexp.MustCompile(`terminationGracePeriodSeconds:|stop_grace_period|TimeoutStopSec|kill_timeout|drainingSeconds`)
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "testdata") {
			return err
		}
		if _, known := graces[filepath.ToSlash(path)]; !known && says.MatchString(read(t, path)) {
			t.Errorf("%s gives a stop some time, and is not held against the others", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A composition is what the file of Compose says, as far as it is held against something here. The key x-sandkeeper is
// merged into the services by the reader of YAML.
type composition struct {
	Services map[string]struct {
		Image       string
		Command     []string
		User        string
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
		Security    []string `yaml:"security_opt"`
		Grace       string   `yaml:"stop_grace_period"`
		Environment map[string]string
		Volumes     []string
		Ports       []string
		Healthcheck struct{ Test []string }
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	}
}

// TestCompose: ours runs as in Kubernetes, all that is mounted is there or is told to be made, every port is of this
// host alone, and the config's variables are set.
func TestCompose(t *testing.T) {
	var c composition
	if err := yaml.Unmarshal([]byte(read(t, "compose/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	guide, config := read(t, "compose/README.md"), read(t, "compose/sandkeeper.yaml")
	for name, s := range c.Services {
		if ours := strings.Contains(s.Image, "/sandkeeper:"); ours {
			if s.User != "65532:65532" || !s.ReadOnly || len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL" || len(s.Security) != 1 || s.Grace != "40s" {
				t.Errorf("%s has more rights than it needs: %+v", name, s)
			}
			if got := call(t, nil, append(s.Command, "--help")...); got.code != 0 {
				t.Errorf("%s starts sandkeeper %v, which it refuses: %s", name, s.Command, got)
			}
			for _, m := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(config, -1) {
				if s.Environment[m[1]] == "" {
					t.Errorf("%s: nothing sets %s", name, m[1])
				}
			}
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s is open to the network: %s", name, port)
			}
		}
		for _, volume := range s.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			_, err := os.Stat(filepath.Join("compose", from))
			if strings.HasPrefix(from, ".") && err != nil && !strings.Contains(guide, "> "+strings.TrimPrefix(from, "./")) {
				t.Errorf("%s mounts %s, which is not there and which README.md does not make", name, from)
			}
		}
		for other := range s.DependsOn {
			if _, known := c.Services[other]; !known {
				t.Errorf("%s waits for %s, which is no service", name, other)
			}
		}
	}
	if k := c.Services["sandkeeper"]; len(k.Healthcheck.Test) < 2 || call(t, nil, append(k.Healthcheck.Test[2:], "--help")...).code != 0 {
		t.Errorf("the health check is %q", k.Healthcheck.Test)
	}
}

// TestComposeIsWatched: Prometheus and Alertmanager themselves take what they get.
func TestComposeIsWatched(t *testing.T) {
	dir := t.TempDir()
	for to, from := range map[string]string{"prometheus.yml": "compose/prometheus.yml", "alertmanager.yml": "compose/alertmanager.yml",
		"rules.yaml": "../alerts/rules.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, to), []byte(read(t, from)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "scrape-password"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"promtool", "check", "config", "prometheus.yml"}, {"amtool", "check-config", "alertmanager.yml"}} {
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}

// TestRailway: the file is JSON, and says what the page has to answer.
func TestRailway(t *testing.T) {
	var c struct {
		Deploy struct{ HealthcheckPath, RestartPolicyType string }
	}
	if err := json.Unmarshal([]byte(read(t, "railway/railway.json")), &c); err != nil {
		t.Fatal(err)
	}
	if c.Deploy.HealthcheckPath != "/healthz" || c.Deploy.RestartPolicyType != "ALWAYS" {
		t.Errorf("railway.json says %+v", c)
	}
}

// TestUnits: systemd starts verbs and flags that the program has, and takes the exit code of a provider's outage.
func TestUnits(t *testing.T) {
	for _, unit := range []string{"sandkeeper.service", "sandkeeper-once.service"} {
		text := read(t, "systemd/"+unit)
		m := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/sandkeeper (.*)$`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s starts no sandkeeper", unit)
		}
		if got := call(t, nil, append(strings.Fields(m[1]), "--help")...); got.code != 0 {
			t.Errorf("%s starts sandkeeper %s, which it refuses: %s", unit, m[1], got)
		}
	}
	if !strings.Contains(read(t, "systemd/sandkeeper-once.service"), "--tolerate-outage") {
		t.Error("a provider's outage fails sandkeeper-once.service")
	}
}
