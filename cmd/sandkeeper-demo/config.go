package main

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
)

// demoConfig is a config as a user writes it, with thresholds near their floors, so that
// the story is short. The blanks are the addresses of database and page, the times between
// two passes, the providers, and how many failed probes convict.
const demoConfig = `# The config of sandkeeper's demo. Thresholds are shorter than anybody wants them at work.
installation: demo
mode: enforce
# A platform that begins with the demo has no history that could prove a rule.
proof: off
database: %q
web: {listen: %q}
schedule: {quick: "@every %ds", full: "@every %ds"}
tasks: {preset: omoios, columns: {provider: provider}}
providers:
%s
rules:
  assigned-stale: {after: 30s}
  sandbox-missing: {after: 2s}
  heartbeat-lost: {after: 40s}
  stop-ignored: {after: 5s}
  finished-lingering: {after: 30s, remedy: quarantine}
  orphan: {after: 30s, sightings: 2, apart: 3s}
  idle-broken: {after: 6s, failures: %d}
  systemic: {count: 9, window: 2m}
  capacity: {critical: 400, escalate: 500}
limits: {per_pass: 20, share: 10%%, breaker: 10%%, per_hour: 2000}
log: {level: info, format: json}
`

// demoEntry is one provider of the config. The blanks are its name, which is its kind as
// well, its address, its key, what only this kind has, the seconds between two probes of a
// sandbox, and the price of one.
const demoEntry = `  - name: %s
    kind: %[1]s
    url: %q
    token: %q
%s    owns: {labels: {project: omoios}, exclusive: true}
    link: {task_label: task_id}
    rate: 1000/s
    probe:
      {exec: "true", path: "/", worker: "pgrep -f '[c]laude_sandbox_worker.py'", every: %ds, timeout: 1s,
       budget: 2500/m}
    quarantine_for: 1m
    price_per_hour: %.2f
`

// own are the keys of a provider's own in the config, and what a sandbox costs there.
func (p *demoProvider) own() (keys string, price float64) {
	switch p.name {
	case atE2B:
		return fmt.Sprintf("    team: %s\n    domain: sandboxes.test\n    sandbox_url: %q\n    templates: [%s]\n",
			e2btest.Team, p.url, demoTemplate), 0.10
	case atVercel:
		// Nothing can be paused there, so that what lingers there would wait for a person.
		return fmt.Sprintf("    team: %s\n    project: %s\n    quarantine: hold\n", verceltest.Team, verceltest.Project), 0.13
	}
	return "    templates: [" + demoSnapshot + "]\n", 0.08
}

// writeConfig writes a config with the address of a page and returns its path.
func (s *demoStage) writeConfig(name, address string) (string, error) {
	entries := ""
	for _, p := range s.providers {
		keys, price := p.own()
		entries += fmt.Sprintf(demoEntry, p.name, p.url, p.key, keys, s.probes, price)
	}
	return s.write(name, fmt.Sprintf(demoConfig, s.dsn, address, s.quick, s.full, entries, s.failures))
}
