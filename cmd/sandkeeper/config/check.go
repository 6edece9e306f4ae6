package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// check holds the parts of the config against each other and finishes what depends on
// more than one of them.
func (c *Config) check(r *report) {
	c.checkNames(r)
	c.checkDatabases(r)
	c.checkTasks(r)
	c.checkProviders(r)
	c.checkRules(r)
	c.checkRemedies(r)
	c.checkProof(r)
	c.checkCanary(r)
	c.checkWeb(r)
	c.checkTelemetry(r)
	c.checkPairs(r)
}

func (c *Config) checkNames(r *report) {
	if c.Installation == "" {
		r.fail("installation", "is not given", "name this installation: it is stamped into the ledger")
	} else if !safeName.MatchString(c.Installation) {
		r.fail("installation", r.quote("installation")+" is not a name", safeNameFix)
	}
}

// checkDatabases never shows an address: it holds a password.
func (c *Config) checkDatabases(r *report) {
	if c.Database.Empty() {
		r.fail("database", "is not given", "give the PostgreSQL URL of the ledger, for example ${DATABASE_URL}")
	} else if !postgresURL(c.Database.Reveal()) {
		r.fail("database", "is not a PostgreSQL URL", "write it like postgres://user@host/name")
	}
	if r.given("tasks.database") && !c.Tasks.Database.Empty() && !postgresURL(c.Tasks.Database.Reveal()) {
		r.fail("tasks.database", "is not a PostgreSQL URL", "write it like postgres://user@host/name")
	}
}

// postgresURL takes URLs and the form "host=… dbname=…". What pgx cannot read of it is
// found when it connects.
func postgresURL(text string) bool {
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		_, err := url.Parse(text)
		return err == nil
	}
	return !strings.Contains(text, "://") && strings.Contains(text, "=")
}

const hostLabel = `[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?`

var hostName = regexp.MustCompile(`^` + hostLabel + `(?:\.` + hostLabel + `)*\.?$`)

// isAddress reports whether somebody can listen there.
func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	_, bad := strconv.ParseUint(port, 10, 16)
	return err == nil && bad == nil
}

func (c *Config) checkWeb(r *report) {
	if c.Web.Health != "" && !isAddress(c.Web.Health) {
		r.fail("web.health", r.quote("web.health")+" is not an address", "write it like :8081")
	}
	if !isAddress(c.Web.Listen) {
		r.fail("web.listen", r.quote("web.listen")+" is not an address", "write it like 127.0.0.1:8080 or :8080")
		return
	}
	host, _, _ := net.SplitHostPort(c.Web.Listen)
	if !text.Loopback(host) && c.Web.ConfigFile == "" {
		r.warn("web.listen", "run and serve refuse to show the page to others without asking who they are",
			"name users in web.config_file, or listen on 127.0.0.1")
	}
	for i, name := range c.Web.Hosts {
		if key := fmt.Sprintf("web.hosts[%d]", i); !hostName.MatchString(name) {
			r.fail(key, r.quote(key)+" is not a host name", "write it like sandkeeper.example.com, without scheme and port")
		}
	}
	c.checkAlerts(r)
	c.checkNotify(r)
}

const week = 7 * day

// labelName is how Prometheus names a label.
var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

func (c *Config) checkAlerts(r *report) {
	for key, address := range map[string]string{
		"web.public_url": c.Web.PublicURL, "alerts.dashboard_url": c.Alerts.DashboardURL,
		"alerts.runbooks_url": c.Alerts.RunbooksURL,
	} {
		u, err := url.Parse(address)
		if address != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil) {
			r.fail(key, r.quote(key)+" is not an address", "write it like https://sandkeeper.example.com")
		}
	}
	for i, name := range c.Alerts.Labels {
		if key := fmt.Sprintf("alerts.labels[%d]", i); !labelName.MatchString(name) {
			r.fail(key, r.quote(key)+" is not the name of a label", "write it like cluster")
		}
	}
	for i, p := range c.Providers {
		for j, price := range p.Prices {
			price.check(r, fmt.Sprintf("providers[%d].prices[%d]", i, j), p.Kind)
		}
	}
}

// check is of one price of an entry of that kind.
func (p PriceConfig) check(r *report, key, kind string) {
	sized := p.size() != reconcile.Size{}
	switch {
	case p.Template == "" && p.Region == "" && !sized:
		r.fail(key, "names no template, region or size", "name one of them, or use price_per_hour")
	case sized && providers.Built(kind) && !providers.Sizes(kind):
		r.fail(key, "is for nothing: "+kind+" does not say how large a sandbox is", "name a template or a region")
	}
}

// checkPairs warns of settings that are fine alone and odd together.
func (c *Config) checkPairs(r *report) {
	if c.Schedule.Quick.Gap > c.Schedule.Full.Gap {
		r.warn("schedule.quick", "quick passes are rarer than full ones", "make quick the shorter one")
	}
	if orphan := c.ruled["orphan"]; orphan.Mode != reconcile.Off && orphan.After < c.Schedule.Full.Gap {
		r.warn("rules.orphan.after", fmt.Sprintf("%s is shorter than the gap of %s between two full passes",
			text.Exact(orphan.After), text.Exact(c.Schedule.Full.Gap)), "make it at least as long")
	}
	const beats = 3 * 30 * time.Second
	lost, inactive := c.ruled["heartbeat-lost"], c.ruled["inactive"]
	if lost.Mode != reconcile.Off && lost.After < beats {
		r.warn("rules.heartbeat-lost.after", "is shorter than 3 heartbeats of 30s: one that is late looks like a death",
			"use at least 90s")
	}
	if inactive.Named && lost.Mode != reconcile.Off && inactive.After < lost.After && c.Tasks.Preset != "coding-agent" {
		r.warn("rules.inactive.after", "is shorter than heartbeat-lost.after", "make it the longer one")
	}
	if c.Retention < 2*c.Schedule.Full.Gap {
		r.warn("retention", "is shorter than two gaps between full passes", "keep history for longer")
	} else if c.Retention < week {
		r.warn("retention", text.Exact(c.Retention)+" is shorter than 7d: report, and the watch on false positives, "+
			"see no further back",
			"keep history for at least 7d")
	}
	c.checkProbePairs(r)
}

// checkProbePairs: rules that convict by probes need probes.
func (c *Config) checkProbePairs(r *report) {
	broken := c.ruled["idle-broken"]
	for i, p := range c.Providers {
		if broken.Named && broken.Mode != reconcile.Off && p.Probe.Off {
			r.warn(fmt.Sprintf("providers[%d].probe", i), "idle-broken finds nothing at "+p.Name+" without probes",
				"remove probe: off")
		}
	}
}
