package config

import (
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// A Threshold is how long a rule waits: a duration, or [AutoThreshold].
type Threshold time.Duration

// AutoThreshold is one that is learned from the platform's own history.
const AutoThreshold Threshold = -1

const autoWord = "auto"

// String is how the config has it.
func (t Threshold) String() string {
	if t == AutoThreshold {
		return autoWord
	}
	return text.Exact(time.Duration(t))
}

func parseThreshold(s string) (Threshold, *misfit) {
	if s == autoWord {
		return AutoThreshold, nil
	}
	d, wrong := parseDuration(s)
	return Threshold(d), wrong
}

// auto reports whether the rule's threshold is learned.
func (c *Config) auto(rule string) bool { return c.Rules[rule].After == AutoThreshold }

// Learns reports whether the threshold of a rule is learned.
func (c *Config) Learns() bool { return len(c.autoRules()) > 0 }

// autoRules are the rules whose thresholds are learned.
func (c *Config) autoRules() map[string]bool {
	var out map[string]bool
	for rule := range c.Rules {
		if c.auto(rule) {
			if out == nil {
				out = map[string]bool{}
			}
			out[rule] = true
		}
	}
	return out
}

// checkAuto refuses what no history tells of.
func (k ruleCheck) checkAuto(usual time.Duration) {
	key := k.key + ".after"
	switch {
	case k.c.Tasks.None:
		k.fail(key, "auto learns from finished tasks, and there are none with tasks: none", "give a duration")
	case !slices.Contains(reconcile.ReplayedRules, k.spec.Name):
		k.fail(key, "no history of tasks tells what "+k.spec.Name+" would have seen, so its threshold cannot be learned",
			"give a duration; auto is for "+strings.Join(reconcile.ReplayedRules, ", "))
	case !k.bad["tasks"] && !k.c.learns(k.spec.Name):
		k.warn(key, "auto learns nothing here, and stays at the default of "+text.Exact(usual)+
			": this platform keeps no events that tell of "+k.spec.Name, "map events, or give a duration")
	}
}

// learns reports whether the platform keeps what the rule's threshold is learned from.
func (c *Config) learns(rule string) bool {
	p := c.tasksPolicy()
	return p.Tells(rule)
}

// kindAttr is the column by which kinds of tasks are told apart where thresholds are learned and no override names one.
func kindAttr(c *Config) string {
	if len(c.autoRules()) == 0 {
		return ""
	}
	return tasks.PresetKind(c.Tasks.Preset)
}
