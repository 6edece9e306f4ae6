package alerts

import "github.com/prometheus/client_golang/prometheus"

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// families are all metrics, each with the prefix sandkeeper_.
var families = []family{
	{name: "build_info", kind: gauge, labels: []string{"version", "goversion"}, local: true, read: build,
		help: "What this process is; always 1."},
	{name: "ledger_up", kind: gauge, local: true, read: up,
		help: "Whether the ledger could be read for this scrape. When it is 0 all that it knows is absent."},
	{name: "config_reload_success", kind: gauge, local: true, read: reloaded,
		help: "Whether this process accepted the config at the last reload."},
	{name: "config_last_reload_timestamp_seconds", kind: gauge, local: true, read: reloadedAt,
		help: "When this process last tried to load the config."},
	{name: "pass_interval_seconds", kind: gauge, labels: []string{"kind"}, local: true, read: intervals,
		help: "Longest gap between two passes on the configured schedule."},
	{name: "sandboxes_limit", kind: gauge, labels: []string{"level"}, local: true, read: limits,
		help: "Active sandboxes above which the rule capacity is critical, and above which it escalates."},

	{name: "last_complete_pass_timestamp_seconds", kind: gauge, labels: []string{"kind"}, read: passEnd,
		help: "End of the newest complete pass by the ledger's clock. Absent when there never was one."},
	{name: "last_complete_pass_duration_seconds", kind: gauge, labels: []string{"kind"}, read: passDuration,
		help: "How long the newest complete pass took."},
	{name: "pass_age_seconds", kind: gauge, labels: []string{"kind"}, read: passAge,
		help: "Time since the newest complete pass ended, by the ledger's clock. Absent when that is in the future."},
	{name: "passes_total", kind: counter, labels: []string{"kind", "outcome"}, read: passes,
		help: "Passes that ended, complete and incomplete."},

	{name: "tasks", kind: gauge, labels: []string{"state"}, read: tasks,
		help: "Live tasks at the newest pass. Absent when they were not measured."},
	{name: "tasks_ended_total", kind: counter, labels: []string{"state"}, read: tasksEnded,
		help: "Tasks that were seen live and ended since."},
	{name: "sandboxes", kind: gauge, labels: []string{"provider", "state"}, read: sandboxes,
		help: "Sandboxes of this installation at the newest full pass. Absent when they were not measured."},
	{name: "sandboxes_foreign", kind: gauge, labels: []string{"provider"}, read: foreign,
		help: "Sandboxes of others in the same account, which are never touched."},

	{name: "findings", kind: gauge, labels: []string{"rule", "provider"}, read: findings,
		help: "Open findings."},
	{name: "findings_due", kind: gauge, labels: []string{"rule", "provider"}, read: findingsDue,
		help: "Open findings that are past every threshold."},
	{name: "finding_oldest_age_seconds", kind: gauge, labels: []string{"rule"}, read: findingAge,
		help: "Age of the oldest open finding. Absent when none is open."},
	{name: "findings_opened_total", kind: counter, labels: []string{"rule", "provider"}, read: findingsOpened,
		help: "Findings that were opened."},
	{name: "findings_resolved_total", kind: counter, labels: []string{"rule", "provider"}, read: findingsResolved,
		help: "Findings that were resolved."},
	{name: "held", kind: gauge, labels: []string{"rule", "by"}, read: held,
		help: "Due findings that may not be acted on, by what holds them."},

	{name: "actions_total", kind: counter, labels: []string{"rule", "provider", "step", "outcome"}, read: actions,
		help: "Steps of remedies by what became of them, each attempt counted."},
	{name: "actions_open", kind: gauge, labels: []string{"rule", "provider", "step", "outcome"}, read: actionsOpen,
		help: "Steps of remedies that are not closed."},
	{name: "terminations_overdue", kind: gauge, read: overdue,
		help: "Terminates that began 2 minutes ago or more and are not confirmed."},
	{name: "gone_seconds", labels: []string{"rule", "provider"}, histograms: gone,
		help: "Time from the request to terminate a sandbox to the confirmation that it is gone."},
	{name: "probes_total", kind: counter, labels: []string{"provider", "outcome"}, read: probes,
		help: "Probes of sandboxes."},

	{name: "source_trusted", kind: gauge, labels: []string{"source"}, read: trusted,
		help: "Whether a source can be trusted; what rests on one that is 0 is held."},
	{name: "source_since_timestamp_seconds", kind: gauge, labels: []string{"source"}, read: trustedSince,
		help: "Since when the source is trusted, or not."},
	{name: "template_state", kind: gauge, labels: []string{"provider", "template", "state"}, read: templateState,
		help: "State of the templates that are configured or in use, always 1; at most 100, the unusable first."},
	{name: "template_expires_timestamp_seconds", kind: gauge, labels: []string{"provider", "template"}, read: templateEnd,
		help: "When the provider will deactivate the template unless it is used."},

	{name: "breaker_open", kind: gauge, labels: []string{"rule"}, read: breakers,
		help: "Whether the breaker of the rule is open: all that it wants is held until a person releases it."},
	{name: "paused", kind: gauge, labels: []string{"scope"}, read: pauses,
		help: "Pauses in force, always 1: all, rule:NAME or provider:NAME."},
	{name: "holds", kind: gauge, read: holds,
		help: "Holds in force."},
	{name: "mode_lowered", kind: gauge, labels: []string{"rule", "mode"}, read: lowered,
		help: "Rules whose mode an operator has lowered, always 1."},
}
