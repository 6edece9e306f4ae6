package config

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// env is a getenv over a map.
func env(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}

var referenceEnv = env(map[string]string{
	"DATABASE_URL": "postgres://ledger.example/main", "DAYTONA_API_KEY": "dtn_1",
})

func mustLoad(t *testing.T, path string, getenv func(string) (string, bool)) *Config {
	t.Helper()
	c, err := Load(path, getenv)
	if err != nil {
		t.Fatalf("Load(%s) =\n%v", path, err)
	}
	return c
}

func TestReferenceConfig(t *testing.T) {
	c := mustLoad(t, "testdata/reference.yaml", referenceEnv)
	p := c.Policy()
	probe := reconcile.ProbePolicy{
		Exec: "true", Path: "/", Every: 10 * time.Minute, Timeout: 5 * time.Second, Budget: 50,
	}
	wantTasks := reconcile.TasksPolicy{
		Events: true, Heartbeats: true, Requeue: true, HasUpdated: true, ErrorMapped: true, FailsRows: true, Requeues: true,
		ExplainedBy: []reconcile.Explanation{{Table: "public.specs", Label: "spec_id"}},
	}
	prices := []reconcile.Price{{Template: "gpu", PerHour: 2.10},
		{Size: reconcile.Size{CPU: 4, MemoryGiB: 8}, PerHour: 0.32}}
	want := reconcile.Policy{
		Installation: "prod-eu", Quick: 15 * time.Second, Full: 2 * time.Minute, Small: 5,
		Limits: reconcile.Limits{PerPass: 20, Share: 0.1, Breaker: 0.3, PerHour: 200, KeepAlive: 30 * 24 * time.Hour},
		Providers: map[string]reconcile.ProviderPolicy{"daytona": {
			Name: "daytona", Kind: "daytona", URL: "https://app.daytona.io/api", Exclusive: true, LinkTask: true,
			Templates: []string{"ai-agent-dev-light"}, Probe: probe, QuarantineFor: 24 * time.Hour, PricePerHour: 0.08, Prices: prices, Key: "4ea174d3",
			Rate: 20,
		}},
		Tasks: wantTasks, Rules: p.Rules,
		Proof: reconcile.ProofPolicy{FalsePositives: 0.02, Samples: 200, Mapping: p.Proof.Mapping, Owners: p.Proof.Owners},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("Policy (-want +got)\n%s", diff)
	}
	wantEntries := []providers.Entry{{
		Name: "daytona", Kind: "daytona", URL: "https://app.daytona.io/api", Token: "dtn_1",
		Owns: providers.Owns{Labels: map[string]string{"project": "omoios"}, Exclusive: true},
		Link: providers.Link{TaskLabel: "task_id"}, Rate: 20, Timeout: 10 * time.Second,
		Templates: []string{"ai-agent-dev-light"}, Hosts: []string{"*.daytona.io"}, Probe: probe,
	}}
	if diff := cmp.Diff(wantEntries, c.Entries()); diff != "" {
		t.Errorf("Entries (-want +got)\n%s", diff)
	}
	if got := c.Tasks.Database.Reveal(); got != "postgres://ledger.example/main" {
		t.Errorf("database of the tasks = %q, want that of the ledger", got)
	}
	if c.Retention != 30*day || c.Web.Operators[0] != "ana" || c.Web.ConfigFile != "testdata/web.yml" {
		t.Errorf("retention, web = %v, %+v", c.Retention, c.Web)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("Warnings = %v, want none", c.Warnings)
	}
}

// The rules of the reference config: the defaults of the design and what it names.
func TestReferenceRules(t *testing.T) {
	got := mustLoad(t, "testdata/reference.yaml", referenceEnv).Policy().Rules
	observed := func(r reconcile.Remedy, p reconcile.RulePolicy) reconcile.RulePolicy {
		p.Mode, p.Rollout, p.Remedy = reconcile.Observe, 100, r
		return p
	}
	stale := reconcile.RulePolicy{
		Mode: reconcile.Enforce, Named: true, Rollout: 100, Remedy: reconcile.Fail,
		After: 3 * time.Minute, Conclusive: 20 * time.Second,
	}
	off := reconcile.RulePolicy{Mode: reconcile.Off, Rollout: 100, Remedy: reconcile.Report}
	want := map[string]reconcile.RulePolicy{
		"finished-unrecorded": observed(reconcile.Report, reconcile.RulePolicy{}),
		"assigned-stale":      stale,
		"sandbox-missing":     observed(reconcile.Fail, reconcile.RulePolicy{After: 30 * time.Second, Looks: 2}),
		"heartbeat-lost":      observed(reconcile.Fail, reconcile.RulePolicy{After: 90 * time.Second}),
		"inactive":            observed(reconcile.Fail, reconcile.RulePolicy{After: 15 * time.Minute}),
		"deadline-exceeded":   observed(reconcile.Fail, reconcile.RulePolicy{}),
		"stop-ignored":        observed(reconcile.Terminate, reconcile.RulePolicy{After: 5 * time.Second}),
		"finished-lingering":  observed(reconcile.Terminate, reconcile.RulePolicy{After: 10 * time.Minute}),
		"pending-stuck":       observed(reconcile.Report, reconcile.RulePolicy{After: 10 * time.Minute}),
		"looping":             observed(reconcile.Report, reconcile.RulePolicy{Count: 3, Window: time.Hour}),
		"orphan": observed(reconcile.Terminate,
			reconcile.RulePolicy{After: 5 * time.Minute, Sightings: 2, Apart: time.Minute}),
		"duplicate":                observed(reconcile.Terminate, reconcile.RulePolicy{After: 2 * time.Minute}),
		"record-without-container": observed(reconcile.Terminate, reconcile.RulePolicy{Looks: 2, Apart: 30 * time.Second}),
		"provisioning-stuck":       observed(reconcile.Fail, reconcile.RulePolicy{After: 12 * time.Minute}),
		"idle-broken":              observed(reconcile.Fail, reconcile.RulePolicy{After: time.Minute, Failures: 3}),
		"executions-stuck":         observed(reconcile.Fail, reconcile.RulePolicy{After: 2 * time.Minute}),
		"errored":                  observed(reconcile.Terminate, reconcile.RulePolicy{After: time.Minute}),
		"over-age": observed(reconcile.Terminate,
			reconcile.RulePolicy{Named: true, After: 10 * time.Minute}),
		"terminating-stuck": observed(reconcile.Report, reconcile.RulePolicy{After: 2 * time.Minute}),
		"runaway":           off,
		"template-unusable": observed(reconcile.Report, reconcile.RulePolicy{Ahead: 48 * time.Hour}),
		"systemic":          observed(reconcile.Report, reconcile.RulePolicy{Count: 5, Window: 30 * time.Minute}),
		"capacity": observed(reconcile.Report,
			reconcile.RulePolicy{For: 30 * time.Minute, Quota: 80}),
	}
	for i := range reconcile.Rules { // a rule of which the reference says nothing is as its row says
		if r := &reconcile.Rules[i]; want[r.Name].Rollout == 0 {
			want[r.Name] = observed(r.Remedies[0], r.Settings("omoios", ""))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Rules (-want +got)\n%s", diff)
	}
}

// exampleEnv has what the files under deploy/ ask for.
func exampleEnv(more map[string]string) func(string) (string, bool) {
	vars := map[string]string{
		"DATABASE_URL": "postgres://db.example/sandkeeper", "TASKS_DATABASE_URL": "postgres://db.example/omoios", "DAYTONA_API_KEY": "dtn_1",
		"SANDBOX_VERCEL_TOKEN": "v_1", "SANDBOX_VERCEL_TEAM_ID": "team_1", "SANDBOX_VERCEL_PROJECT_ID": "prj_1",
		"AGENTUITY_SDK_KEY": "a_1", "AGENTUITY_ORG": "org_1", "AGENTUITY_PROJECT": "proj_1",
		"CLOUDFLARE_API_TOKEN": "c_1", "CLOUDFLARE_ACCOUNT_ID": "acct_1", "CLOUDFLARE_APPLICATION_ID": "app_1",
		"SANDBOX_WORKER_URL": "https://boxes.example/api/sandbox", "SANDBOX_WORKER_TOKEN": "w_1", "YARD_KEY": "y_1",
	}
	maps.Copy(vars, more)
	return env(vars)
}

// TestExamples: what is under deploy/ loads without a warning, and only observes.
func TestExamples(t *testing.T) {
	// The platform marks its sandboxes with nothing: its example has the weaker proof, and says so.
	weaker := []string{"providers[0].owns.referenced"}
	var paths []string
	for _, pattern := range []string{"examples/*.yaml", "examples/*/sandkeeper.yaml", "examples/*/overlay/sandkeeper.yaml", "compose/sandkeeper.yaml", "kustomize/*/sandkeeper.yaml", "kustomize/examples/*/sandkeeper.yaml"} {
		found, err := filepath.Glob("../../../deploy/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no config at deploy/%s (%v)", pattern, err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			c := mustLoad(t, path, exampleEnv(nil))
			var keys []string
			for _, w := range c.Warnings {
				keys = append(keys, w.Key)
			}
			var warned []string
			if strings.Contains(path, "/coding-agent-vercel/") {
				warned = weaker
			}
			if diff := cmp.Diff(warned, keys); diff != "" {
				t.Errorf("Warnings = %v (-want +got)\n%s", c.Warnings, diff)
			}
			for name, rule := range c.Policy().Rules {
				if rule.Mode == reconcile.Enforce {
					t.Errorf("rule %s is enforced; the example must only observe", name)
				}
			}
			for _, e := range c.Entries() {
				if !strings.Contains(strings.Join(providers.Kinds(), " "), e.Kind) || e.Token == "" {
					t.Errorf("entry %+v: no kind that a program can open, or no token", e)
				}
			}
		})
	}
}

// TestExamplesOfThePlatforms: each of the four is what its platform needs.
func TestExamplesOfThePlatforms(t *testing.T) {
	type want struct {
		kind  string
		extra map[string]string
		is    func(reconcile.Policy) bool
	}
	for name, w := range map[string]want{
		"omoios-daytona": {"daytona", nil, func(p reconcile.Policy) bool {
			return p.Tasks.Events && p.Tasks.Requeue && p.Providers["daytona"].LinkTask && p.Providers["daytona"].Exclusive
		}},
		"coding-agent-vercel": {"vercel", map[string]string{"team": "team_1", "project": "prj_1"}, func(p reconcile.Policy) bool {
			return p.Providers["vercel"].SandboxIsID && p.Providers["vercel"].Referenced && !p.Tasks.Events &&
				p.Rules["inactive"].After == time.Hour && p.Rules["capacity"].AtRest == 5
		}},
		"agentuity": {"agentuity", map[string]string{"org": "org_1", "project": "proj_1", "region": "usc"},
			func(p reconcile.Policy) bool {
				return p.Tasks.None && p.Rules["idle-broken"].Remedy == reconcile.Quarantine && !p.Providers["agentuity"].Probe.Off
			}},
		"monotask-cloudflare": {"cloudflare", map[string]string{"account": "acct_1", "application": "app_1",
			"worker_url": "https://boxes.example/api/sandbox", "worker_token": "w_1"},
			func(p reconcile.Policy) bool {
				return p.Rules["over-age"].After == 10*time.Minute && p.Rules["over-age"].Mode == reconcile.Observe &&
					p.Rules["runaway"].Mode == reconcile.Observe && p.Rules["capacity"].AtRest == 5 && p.Tasks.ErrorMapped
			}},
	} {
		c := mustLoad(t, "../../../deploy/examples/"+name+"/sandkeeper.yaml", exampleEnv(nil))
		e := c.Entries()[0]
		if diff := cmp.Diff(w.extra, e.Extra); e.Kind != w.kind || diff != "" {
			t.Errorf("%s: kind %s, further keys (-want +got)\n%s", name, e.Kind, diff)
		}
		if !w.is(c.Policy()) {
			t.Errorf("%s is not what its platform needs: %+v", name, c.Policy())
		}
	}
	for name, link := range map[string]string{"coding-agent-vercel": "coding-agent", "monotask-cloudflare": "none"} {
		if m := mustLoad(t, "../../../deploy/examples/"+name+"/sandkeeper.yaml", exampleEnv(nil)).Mapping(); m.Preset != link {
			t.Errorf("%s: preset %s, want %s", name, m.Preset, link)
		}
	}
}

// TestScheduleOfTheManifests: the CronJob tells the config its own gap.
func TestScheduleOfTheManifests(t *testing.T) {
	const path = "../../../deploy/kustomize/base/sandkeeper.yaml"
	vars := map[string]string{"DATABASE_URL": "postgres://db.example/sandkeeper", "TASKS_DATABASE_URL": "postgres://db.example/omoios", "DAYTONA_API_KEY": "dtn_1"}
	if p := mustLoad(t, path, env(vars)).Policy(); p.Quick != 15*time.Second || p.Full != 2*time.Minute {
		t.Errorf("gaps of run = %s, %s, want 15s, 2m", p.Quick, p.Full)
	}
	vars["SANDKEEPER_QUICK"], vars["SANDKEEPER_FULL"] = "@every 1m", "@every 1m"
	if p := mustLoad(t, path, env(vars)).Policy(); p.Quick != time.Minute || p.Full != time.Minute {
		t.Errorf("gaps of the CronJob = %s, %s, want 1m, 1m", p.Quick, p.Full)
	}
}

func TestConfigFileIsFound(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if _, err := Load("", referenceEnv); err == nil ||
		!strings.Contains(err.Error(), "no sandkeeper.yaml and no /etc/sandkeeper/sandkeeper.yaml; write one") {
		t.Errorf("Load of nothing = %v, want both places and the fix", err)
	}
	if _, err := Load("other.yaml", referenceEnv); err == nil || !strings.Contains(err.Error(), "other.yaml") {
		t.Errorf("Load of a missing file = %v, want its name", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sandkeeper.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := mustLoad(t, "", referenceEnv); c.Installation != "prod-eu" {
		t.Errorf("Installation = %q, want prod-eu", c.Installation)
	}
}

func TestLocate(t *testing.T) {
	c := mustLoad(t, "testdata/reference.yaml", referenceEnv)
	tests := map[string]struct {
		key          string
		line, column int
	}{
		"a key":                           {"tasks.columns.started_at", 22, 5},
		"a key that is not in the file":   {"tasks.columns.nope", 13, 3},
		"a key of a section in one line":  {"tasks.fail.set.error_message", 42, 35},
		"a key of a list's element":       {"providers[0].owns", 61, 5},
		"an element of a list":            {"providers[0]", 57, 5},
		"a key whose section is missing":  {"nope.nope", 1, 1},
		"a key of an element not in list": {"providers[7].owns", 56, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if line, column := c.Locate(tt.key); line != tt.line || column != tt.column {
				t.Errorf("Locate(%s) = %d:%d, want %d:%d", tt.key, line, column, tt.line, tt.column)
			}
		})
	}
}
