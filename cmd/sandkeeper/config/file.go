package config

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

//go:generate go test -run ^Test(Schema|Reference)IsUpToDate$ . -update-schema

// Config is the config file, checked and with its defaults filled in. Its fields are the
// keys of the file: they, their tags and their comments are also what the JSON Schema for
// editors is made of.
type Config struct {
	// Name of this installation, stamped into the ledger. A ledger of another name is refused.
	Installation string `yaml:"installation" jsonschema:"required"`
	// Default mode of the rules.
	Mode reconcile.Mode `yaml:"mode"`
	// Where sandkeeper's own schema lives, for example ${DATABASE_URL}.
	Database Secret `yaml:"database"`
	// File that holds the URL of the database, instead of database.
	DatabaseFile string `yaml:"database_file"`
	// File with the key that signs what operators ask for; verbs and keeper read the same one.
	OperatorKeyFile string `yaml:"operator_key_file"`
	// When passes begin.
	Schedule ScheduleConfig `yaml:"schedule"`
	// Where the tasks are and what their columns mean, or none for sandbox-side rules only.
	Tasks TasksConfig `yaml:"tasks" jsonschema:"required"`
	// Where the workers' events are.
	Events EventsConfig `yaml:"events"`
	// Where sandboxes run.
	Providers []ProviderConfig `yaml:"providers"`
	// Settings of single rules: a mode, or a mapping.
	Rules map[string]RuleConfig `yaml:"rules"`
	// Budgets of acting.
	Limits LimitsConfig `yaml:"limits"`
	// What a rule must show before enforce acts, or off: then all act unproven.
	Proof ProofConfig `yaml:"proof"`
	// A planted fault that must be caught: off unless a template is given.
	Canary CanaryConfig `yaml:"canary"`
	// The page.
	Web WebConfig `yaml:"web"`
	// Notifications for small teams.
	Alerts AlertsConfig `yaml:"alerts"`
	// The log, on stderr.
	Log LogConfig `yaml:"log"`
	// Traces, metrics and logs for an OpenTelemetry collector.
	Telemetry TelemetryConfig `yaml:"telemetry"`
	// How long history is kept.
	Retention time.Duration `yaml:"retention" min:"1m"`

	// Warnings are settings that work but are likely not meant.
	Warnings Errors `yaml:"-"`

	// Files are those that the config was read from: its own, and those with secrets.
	Files []string `yaml:"-"`

	operatorKeys []Secret
	ruled        map[string]reconcile.RulePolicy
	report       *report
}

// ScheduleConfig says when passes begin: cron lines, seconds allowed, or "@every 15s".
type ScheduleConfig struct {
	// Quick passes read live tasks and look up suspects only.
	Quick CronLine `yaml:"quick"`
	// Full passes also list every provider.
	Full CronLine `yaml:"full"`
	// Quick passes list every provider too, where that takes at most so many calls to each; 0: never.
	Small int `yaml:"small" min:"0"`
}

// Of is when passes of the kind begin.
func (s ScheduleConfig) Of(kind reconcile.PassKind) CronLine {
	if kind == reconcile.Full {
		return s.Full
	}
	return s.Quick
}

// TasksConfig is the task table of the platform.
type TasksConfig struct {
	None bool `yaml:"-"` // written as `tasks: none`

	// Database of the tasks; the one of sandkeeper when not given.
	Database Secret `yaml:"database"`
	// File that holds the URL of the database, instead of database.
	DatabaseFile string `yaml:"database_file"`
	// Fills what is not given below.
	Preset string `yaml:"preset" enum:"omoios,coding-agent,coder,garm,kortix,openhands,prefect,triggerdev,none"`
	// What tasks and sandboxes are to each other, from which defaults of the rules follow; that of the preset, else
	// task-per-sandbox.
	Shape string `yaml:"shape" enum:"task-per-sandbox,workspace,runner-pool,queue-workers,workflow"`
	// The table, as schema.table.
	Table string `yaml:"table"`
	// A view, or a query, that is read in the table's place; expressions know its rows as task.
	From string `yaml:"from"`
	// With from: the column of the table that is the task's id; that of columns.id when not given.
	Key string `yaml:"key"`
	// SQL that narrows what may be judged, never what explains a sandbox.
	Where string `yaml:"where"`
	// Time zone of columns that have none.
	Timezone string `yaml:"timezone"`
	// Canonical field: column, or an SQL expression in parentheses. "" unmaps a field.
	Columns map[string]string `yaml:"columns" keys:"task fields"`
	// State: the statuses of the table that mean it.
	Statuses map[string][]string `yaml:"statuses" keys:"states"`
	// What failing a task writes.
	Fail RowConfig `yaml:"fail"`
	// What handing a task out again writes.
	Requeue RowConfig `yaml:"requeue"`
	// How many sandboxes at once are usual for a task whose row does not say it (columns.sandboxes).
	PerTask string `yaml:"per_task" enum:"one,many"`
	// Whether the sandboxes that tasks explain may be ended; keep only tells of them.
	Sandboxes string `yaml:"sandboxes" enum:"end,keep"`
	// NOTIFY channel that is told of each change.
	Notify string `yaml:"notify"`
	// Further tables whose rows explain sandboxes that no task does.
	ExplainedBy []ExplainerConfig `yaml:"explained_by"`
	// Where the platform is told what was done to its tasks, signed, at least once.
	Webhook WebhookConfig `yaml:"webhook"`
}

// ExplainerConfig is a further table of the platform whose rows explain sandboxes. A sandbox
// shows the key of its row as a label, or as its own name or id.
type ExplainerConfig struct {
	// The table, as schema.table.
	Table string `yaml:"table"`
	// The column that holds what the sandbox shows.
	Key string `yaml:"key"`
	// SQL condition of the rows that explain a sandbox; all do when it is not given.
	Where string `yaml:"where"`
	// The sandbox's label that is the key.
	Label string `yaml:"label"`
	// The sandbox's name or id is the key.
	Name bool `yaml:"name"`
}

// WebhookConfig is an address of the platform that hears what was done to its tasks.
type WebhookConfig struct {
	// Address that takes the notices.
	URL Secret `yaml:"url"`
	// Key of the signature (HMAC-SHA256), which the receiver knows too.
	Secret Secret `yaml:"secret"`
	// File that holds the key, instead of secret.
	SecretFile string `yaml:"secret_file"`
	// Time for one notice.
	Timeout time.Duration `yaml:"timeout" min:"100ms"`
}

// RowConfig is what fail or requeue writes on a row.
type RowConfig struct {
	None bool `yaml:"-"` // written as `fail: none`: rows are only read

	// The status that the row gets.
	Status string `yaml:"status"`
	// Column: SQL expression, which may name @reason and @now.
	Set map[string]string `yaml:"set"`
	// Statements behind that in the same transaction, which may also name @id, a text. The status may be left out then.
	SQL []string `yaml:"sql"`
	// The platform's own API, which changes the row in our place. Nothing else is given then.
	Call CallConfig `yaml:"call"`
}

// given reports whether anything is said of the row.
func (r *RowConfig) given() bool {
	return r.Status != "" || len(r.Set) > 0 || len(r.SQL) > 0 || r.Call.given()
}

// CallConfig is a request that has the platform fail or requeue one of its tasks. It may be sent again, with the same
// Idempotency-Key; whether it was carried out is read from the row.
type CallConfig struct {
	// Method of the request.
	Method string `yaml:"method" enum:"POST,PUT,PATCH,DELETE"`
	// Address of the request; {id} is the task.
	URL Secret `yaml:"url"`
	// Credential of the request.
	Token Secret `yaml:"token"`
	// File that holds the credential, instead of token.
	TokenFile string `yaml:"token_file"`
	// Header that holds the credential; Authorization, as a bearer token, when it is not given.
	Header string `yaml:"header"`
	// Key of the signature (HMAC-SHA256), which the platform knows too; not signed when it is not given.
	Secret Secret `yaml:"secret"`
	// File that holds the key, instead of secret.
	SecretFile string `yaml:"secret_file"`
	// The fields of the JSON that is sent; @id, @reason and @action stand for what they name. What was done, as the
	// webhook gets it, when it is not given.
	Body map[string]string `yaml:"body"`
	// Time for one call.
	Timeout time.Duration `yaml:"timeout" min:"100ms"`
}

func (c CallConfig) given() bool { return !c.URL.Empty() }

// EventsConfig is the table of the workers' events.
type EventsConfig struct {
	// The table, as schema.table.
	Table string `yaml:"table"`
	// A query that is read in the table's place; expressions know its rows as e.
	From string `yaml:"from"`
	// Its columns. With `task`, rows without a sandbox find their events by it; without `sandbox` all do.
	Columns map[string]string `yaml:"columns" keys:"event fields"`
	// Types of events that say that a worker started.
	Started []EventTypeConfig `yaml:"started"`
	// Types of events that are heartbeats.
	Heartbeat []EventTypeConfig `yaml:"heartbeat"`
	// Types of events that say that a worker waits for a person.
	Waiting []EventTypeConfig `yaml:"waiting"`
	// Types of events that say that a worker is done.
	Finished []EventTypeConfig `yaml:"finished"`
	// Add an event sandkeeper.failed with each fail.
	Write bool `yaml:"write"`
	// Further columns of that event: column, SQL expression, which may name @reason and @now.
	Set map[string]string `yaml:"set"`
}

// EventTypeConfig is a type of event that means something: always, which may be written as
// the type alone, or where a condition holds.
type EventTypeConfig struct {
	// The type, as the table has it.
	Type string `yaml:"type"`
	// SQL condition over the event, in which data is the mapped column data, as jsonb.
	Where string `yaml:"where"`
}

// LimitsConfig are the budgets of acting.
type LimitsConfig struct {
	// Remedies begun in one pass.
	PerPass int `yaml:"per_pass" min:"1"`
	// Part of the owned fleet in one pass, at least one sandbox.
	Share Percent `yaml:"share"`
	// A rule with more steps due than this part of the fleet is held.
	Breaker Percent `yaml:"breaker"`
	// Remedies begun in a rolling hour.
	PerHour int `yaml:"per_hour" min:"1"`
	// How long a row's `keep_alive_until` may keep a sandbox after its task was over.
	KeepAlive time.Duration `yaml:"keep_alive" min:"1m"`
}

// ProofConfig is what a rule must show on this platform's own history before enforce acts.
type ProofConfig struct {
	Off bool `yaml:"-"` // written as `proof: off`: rules act unproven

	// False positives that a rule may have: the upper bound of their rate, with 95 % confidence.
	FalsePositives Percent `yaml:"false_positives"`
	// Over so many cases at least.
	Samples int `yaml:"samples"`
}

// CanaryConfig is a planted fault: a sandbox that sandkeeper makes itself and no task explains. The rule orphan must
// find it, and end it in time.
type CanaryConfig struct {
	// Template that it is made from. Canaries are planted when it is given.
	Template string `yaml:"template"`
	// Entry of providers where it is made; needed where there are several.
	Provider string `yaml:"provider"`
	// How often one is planted. None is while the one before is still there.
	Every time.Duration `yaml:"every" min:"10m"`
	// Time from planting to the confirmed end; what is later is alerted. By default what orphan waits for, three full
	// passes and 5 minutes.
	Within time.Duration `yaml:"within"`
	// How many may be made in 24 hours: their budget.
	PerDay int `yaml:"per_day" min:"1"`
}

// WebConfig is the page and the API.
type WebConfig struct {
	// Address to listen on.
	Listen string `yaml:"listen"`
	// Address where /healthz and /readyz alone are served, to anybody and without TLS; default: only at listen.
	Health string `yaml:"health"`
	// Address by which people reach the page, for links in alerts and notifications.
	PublicURL string `yaml:"public_url"`
	// TLS and users, in the format of the Prometheus exporter-toolkit.
	ConfigFile string `yaml:"config_file"`
	// Names by which the page is asked for, besides localhost, this machine's own and its addresses.
	Hosts []string `yaml:"hosts"`
	// Users who may act, by the page and by tokens that act. Two or more: `--anyway` takes two of them.
	Operators []string `yaml:"operators"`
	// Networks of proxies whose word on who reads (X-Forwarded-User) and on TLS (X-Forwarded-Proto) is believed.
	TrustedProxies []netip.Prefix `yaml:"trusted_proxies"`
}

// AlertsConfig are notifications for teams without an alert manager.
type AlertsConfig struct {
	// Who is told what is wrong, without an Alertmanager.
	Notify []NotifyConfig `yaml:"notify"`
	// What leaks may cost an hour, in USD, before that pages; 0: nothing does.
	LeakingUSDPerHour float64 `yaml:"leaking_usd_per_hour"`
	// How long a source may be not trusted, so that what rests on it is held, before that is told.
	FrozenFor time.Duration `yaml:"frozen_for" min:"1m"`
	// How many sandboxes more than usual one task may have; 0: any.
	ManyOnOneTask int `yaml:"many_on_one_task"`
	// From what size in GiB on the growth of the ledger is told; 0: never.
	LedgerGiB float64 `yaml:"ledger_gib"`
	// By when after their thresholds nine of ten findings are to be made.
	DetectedWithin time.Duration `yaml:"detected_within" min:"1s"`
	// Labels that Prometheus adds and that alerts keep, such as cluster and namespace.
	Labels []string `yaml:"labels"`
	// Address of the dashboard, for the alerts' dashboard_url.
	DashboardURL string `yaml:"dashboard_url"`
	// Address of your copy of the runbooks; default: the page where web.public_url is given, else the public ones.
	RunbooksURL string `yaml:"runbooks_url"`
}

// LogConfig is the log, on stderr.
type LogConfig struct {
	// Lowest level that is written.
	Level slog.Level `yaml:"level"`
	// Form of a line.
	Format string `yaml:"format" enum:"json,text"`
}

// setDefaults fills in what a file need not say.
func (c *Config) setDefaults() {
	c.Mode = reconcile.Observe
	c.Schedule = ScheduleConfig{
		Quick: everyLine("@every 15s", 15*time.Second),
		Full:  everyLine("@every 2m", 2*time.Minute),
		Small: 5,
	}
	c.Tasks.Preset = "none"
	c.Tasks.Timezone = "UTC"
	c.Tasks.Webhook.Timeout = 10 * time.Second
	for _, call := range []*CallConfig{&c.Tasks.Fail.Call, &c.Tasks.Requeue.Call} {
		call.Method, call.Timeout = "POST", 10*time.Second
	}
	c.Limits = LimitsConfig{PerPass: 20, Share: 0.10, Breaker: 0.30, PerHour: 200, KeepAlive: 30 * day}
	c.Proof = ProofConfig{FalsePositives: 0.02, Samples: 200}
	c.Canary = CanaryConfig{Every: time.Hour, PerDay: 24}
	c.Web.Listen = "127.0.0.1:8080"
	c.Alerts = AlertsConfig{FrozenFor: 30 * time.Minute, ManyOnOneTask: 5, LedgerGiB: 1, DetectedWithin: time.Minute}
	c.Log = LogConfig{Level: slog.LevelInfo, Format: "json"}
	c.Retention = 30 * day
}
