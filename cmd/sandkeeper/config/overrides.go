package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// overrides reads the thresholds of classes, which keep to the floor of their rule.
func (k ruleCheck) overrides(given []OverrideConfig) []reconcile.Override {
	var out []reconcile.Override
	for i, o := range given {
		name := fmt.Sprintf("overrides[%d]", i)
		if k.bad[k.key+"."+name] {
			continue
		}
		if len(o.When) == 0 {
			k.fail(k.key+"."+name, "says no class", "give when, or set after for the rule itself")
		}
		for class, value := range o.When {
			k.checkClass(k.key+"."+name+".when."+class, class, value)
		}
		if k.has(name + ".after") {
			k.checkAfter(name+".after", o.After)
		} else {
			k.fail(k.key+"."+name, "says no threshold", "give after")
		}
		out = append(out, reconcile.Override{When: maps.Clone(o.When), After: o.After})
	}
	return out
}

func (k ruleCheck) checkClass(key, class, value string) {
	column, ofTask := strings.CutPrefix(class, "task.")
	switch {
	case ofTask && k.c.Tasks.None:
		k.fail(key, "there are no tasks with tasks: none", "remove it")
	case ofTask && column != "":
	case ofTask || !slices.Contains([]string{"template", "provider", "region"}, class):
		problem, fix := unknownWord("class", class, []string{"template", "provider", "region", "task.COLUMN"})
		k.fail(key, problem, fix)
	case value == "":
		k.fail(key, "has no value", "name the "+class)
	case class == "provider" && !k.c.HasProvider(value):
		k.fail(key, "there is no provider "+k.quote(key), "use the name of one under providers")
	}
}

// HasProvider reports whether there is an entry of that name.
func (c *Config) HasProvider(name string) bool {
	return slices.ContainsFunc(c.Providers, func(p ProviderConfig) bool { return p.Name == name })
}

// attrs are the columns of the task table that overrides ask for.
func (c *Config) attrs() []string {
	columns := map[string]bool{}
	for _, rule := range c.Rules {
		for _, o := range rule.Overrides {
			for class := range o.When {
				if column, ofTask := strings.CutPrefix(class, "task."); ofTask && column != "" {
					columns[column] = true
				}
			}
		}
	}
	if kind := kindAttr(c); kind != "" && len(columns) == 0 {
		columns[kind] = true
	}
	return slices.Sorted(maps.Keys(columns))
}
