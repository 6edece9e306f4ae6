package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// NotifyConfig is one receiver of notifications: an address alone, or with what it is told of.
type NotifyConfig struct {
	// Where to: slack://, pagerduty://, opsgenie://, smtp://, ntfy:// and others as shoutrrr writes them;
	// https:// for a webhook that takes CloudEvents; teams+https:// for a workflow of Teams.
	URL Secret `yaml:"url"`
	// File that holds the address, instead of url.
	URLFile string `yaml:"url_file"`
	// Its name in logs and metrics; made from the address when not given.
	Name string `yaml:"name"`
	// The least that it is told of.
	Severity string `yaml:"severity" enum:"info,warning,critical"`
	// What it is told of; all when not given.
	Events []string `yaml:"events"`
	// When it is told again of what is wrong still.
	Repeat time.Duration `yaml:"repeat" min:"5m"`
	// Key of the signature (HMAC-SHA256) of a webhook, which the receiver knows too.
	Secret Secret `yaml:"secret"`
	// File that holds the key, instead of secret.
	SecretFile string `yaml:"secret_file"`
}

// NotifyEvents are what a receiver may be told of.
var NotifyEvents = []string{"attention", "breaker", "canary", "credential", "false-positives", "freeze", "hold-ends",
	"incident", "leak-rate", "pass-stale", "rule-auto-disabled"}

func (n *NotifyConfig) setDefaults() { n.Severity, n.Repeat = "warning", 12*time.Hour }

func parseNotify(text string) (NotifyConfig, *misfit) {
	n := NotifyConfig{URL: NewSecret(text)}
	n.setDefaults()
	return n, nil
}

// Called is the name of the receiver: one that tells receivers apart, and nothing of the address but its
// scheme.
func (n NotifyConfig) Called() string {
	if n.Name != "" {
		return n.Name
	}
	scheme, _, _ := strings.Cut(n.URL.Reveal(), ":")
	sum := sha256.Sum256([]byte(n.URL.Reveal()))
	return scheme + "-" + hex.EncodeToString(sum[:4])
}

// Wants reports whether the receiver is to be told of it.
func (n NotifyConfig) Wants(a reconcile.Alarm) bool {
	return a.Severity.AtLeast(reconcile.Severity(n.Severity)) && (len(n.Events) == 0 || slices.Contains(n.Events, a.Kind))
}

// Webhook reports whether the address is one that takes CloudEvents.
func (n NotifyConfig) Webhook() bool {
	scheme, _, _ := strings.Cut(n.URL.Reveal(), ":")
	return scheme == "https" || scheme == "http"
}

func (c *Config) checkNotify(r *report) {
	names := map[string]bool{}
	for i, n := range c.Alerts.Notify {
		key := fmt.Sprintf("alerts.notify[%d]", i)
		u, err := url.Parse(n.URL.Reveal())
		if err != nil || u.Scheme == "" || u.Opaque != "" {
			r.fail(key, "is not a URL", "write it like https://host/path or slack://hook:...@webhook")
		}
		if n.Name != "" && !safeName.MatchString(n.Name) {
			r.fail(key+".name", r.quote(key+".name")+" is not a name", safeNameFix)
		}
		if names[n.Called()] {
			r.fail(key, "is told twice", "remove it here, or give it another name")
		}
		names[n.Called()] = true
		if !n.Secret.Empty() && !n.Webhook() {
			r.fail(key+".secret", "signs nothing", "remove it: only https:// addresses are signed")
		} else {
			r.checkSecret(key+".secret", n.Secret)
		}
		for j, event := range n.Events {
			if !slices.Contains(NotifyEvents, event) {
				problem, fix := unknownWord("event", event, NotifyEvents)
				r.fail(fmt.Sprintf("%s.events[%d]", key, j), problem, fix)
			}
		}
	}
}
