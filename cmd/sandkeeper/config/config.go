// Package config reads the config file: values with their variables filled in, defaults, floors
// and caps, and what the parts of it must agree on. All that is wrong is said at once, each with
// its place in the file and the fix.
//
// # Decisions
//
//   - 2026-11-22: the file is not held against its JSON Schema when it is read. A validator
//     refuses what has always been read (token: 123, per_pass: "20"), passes what only a parser
//     knows to be wrong (share: 300%), says of each value that may be a variable that anyOf
//     failed, and knows neither places nor near words: what would put that right is longer than
//     the decoder. The schema is made from the same types, and tests hold the two together.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// maxSize bounds a config file and a file with a secret; both are a few kB in use.
const maxSize = 1 << 18

// places are where the config is looked for when no path is given.
var places = []string{"sandkeeper.yaml", "/etc/sandkeeper/sandkeeper.yaml"}

// ErrNone is that there is no config in any of the usual places.
var ErrNone = errors.New("find the config")

// Load reads and checks the config at path, or at the first of the usual places
// when path is "". All mistakes in the file come back together, as [Errors].
func Load(path string, getenv func(string) (string, bool)) (*Config, error) {
	if path != "" {
		return loadFile(path, getenv)
	}
	for _, place := range places {
		c, err := loadFile(place, getenv)
		if !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
	}
	return nil, fmt.Errorf("%w: there is no %s and no %s; write one of them, or name a file with --config",
		ErrNone, places[0], places[1])
}

func loadFile(path string, getenv func(string) (string, bool)) (*Config, error) {
	f, err := os.Open(path) // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read the config: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read the config: %w", err)
	}
	return Parse(path, text, getenv)
}

// Draft is what can be read of a config that is refused, to help with what is wrong with it. Nothing runs by it.
func Draft(path string, getenv func(string) (string, bool)) (*Config, error) {
	for _, place := range append([]string{path}, places...) {
		text, err := os.ReadFile(place) // the operator names the file
		if err != nil {
			continue
		}
		r := newReport(place)
		root := parseYAML(r, text[:min(len(text), maxSize)])
		if root == nil {
			return nil, r.sorted()
		}
		c := &Config{Files: []string{place}, report: r}
		d := c.decoder(r, place, getenv)
		d.decodeFresh(root, reflect.ValueOf(c).Elem(), "")
		c.readSecrets(r, filepath.Dir(place))
		return c, nil
	}
	return nil, fs.ErrNotExist
}

// Parse checks the text of a config file. The name stands in front of each mistake,
// and other files that the config names are found from its folder.
func Parse(name string, text []byte, getenv func(string) (string, bool)) (*Config, error) {
	r := newReport(name)
	root := parseYAML(r, text)
	if root == nil {
		return nil, r.sorted()
	}
	c := &Config{Files: []string{name}}
	d := c.decoder(r, name, getenv)
	d.decodeFresh(root, reflect.ValueOf(c).Elem(), "")
	if !r.bad[""] {
		c.readSecrets(r, filepath.Dir(name))
		c.check(r)
	}
	if len(r.errs) > 0 {
		return nil, r.sorted()
	}
	c.Warnings, c.report = r.warnings.sorted(), r
	return c, nil
}

// decoder reads the file of that name into the config.
func (c *Config) decoder(r *report, name string, getenv func(string) (string, bool)) decoder {
	return decoder{report: r, getenv: getenv, files: secretFiles{r, filepath.Dir(name), &c.Files}}
}

// Locate returns where a key like "tasks.columns.started_at" stands in the file, else
// where the nearest section around it stands.
func (c *Config) Locate(key string) (line, column int) {
	p := c.report.locate(key)
	return p.line, p.column
}

// Policy returns everything that judging and planning need of the config.
func (c *Config) Policy() reconcile.Policy {
	p := reconcile.Policy{
		Installation: c.Installation,
		Quick:        c.Schedule.Quick.Gap,
		Full:         c.Schedule.Full.Gap,
		Small:        c.Schedule.Small,
		Rules:        c.policies(),
		Limits: reconcile.Limits{
			PerPass: c.Limits.PerPass, Share: float64(c.Limits.Share),
			Breaker: float64(c.Limits.Breaker), PerHour: c.Limits.PerHour,
			KeepAlive: c.Limits.KeepAlive,
		},
		Providers: make(map[string]reconcile.ProviderPolicy, len(c.Providers)),
		Tasks:     c.tasksPolicy(),
		Proof:     c.proofPolicy(),
		Canary:    c.canaryPolicy(),
		Auto:      c.autoRules(),

		TwoOperators: c.Web.TwoOperators(),
	}
	for _, entry := range c.Providers {
		p.Providers[entry.Name] = entry.policy()
	}
	return p
}
