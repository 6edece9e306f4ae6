package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
)

// Options are the flags that every verb has.
type Options struct {
	console.Stdio
	ConfigFile string

	Getenv   func(string) (string, bool) // what the config's variables stand for; nil: the environment
	OnlyLook bool                        // nothing is tried at the databases, not even to roll it back
}

// Lookup is what a variable stands for.
func (o *Options) Lookup(name string) (string, bool) {
	if o.Getenv != nil {
		return o.Getenv(name)
	}
	return os.LookupEnv(name)
}

// Load reads the config and shows its warnings.
func (o *Options) Load() (*config.Config, error) {
	c, err := config.Load(o.ConfigFile, o.Lookup)
	if err != nil {
		return nil, err
	}
	for _, warning := range c.Warnings {
		fmt.Fprintln(o.Err, "warning:", warning)
	}
	return c, nil
}

// Open opens the ledger, the task database and the providers. Opening makes no change.
func (o *Options) Open(ctx context.Context) (*App, error) {
	c, err := o.Load()
	if err != nil {
		return nil, err
	}
	a, err := o.OpenLedger(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := a.openOutside(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// OpenToAct opens all for a verb that acts: on a ledger with this program's schema, which
// migrate makes first, and within the rates that all processes share.
func (o *Options) OpenToAct(ctx context.Context, migrate bool) (*App, error) {
	c, err := o.Load()
	if err != nil {
		return nil, err
	}
	a, err := o.OpenLedger(ctx, c)
	if err != nil {
		return nil, err
	}
	o.SendTelemetry(ctx, a)
	a.shared = true
	if err = a.Prepare(ctx, migrate); err == nil {
		err = a.openOutside(ctx)
	}
	if err != nil {
		a.Telemetry.Close() //nolint:contextcheck // what is left is sent in a time of its own
		a.Close()
		return nil, err
	}
	return a, nil
}

// OpenLedger opens what the operators' verbs need: config, log and ledger.
func (o *Options) OpenLedger(ctx context.Context, c *config.Config) (*App, error) {
	a := o.With(c)
	if err := a.OpenLedger(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// With is an app that has its config and its log, and has opened nothing yet.
func (o *Options) With(c *config.Config) *App {
	a := &App{Config: c, level: &slog.LevelVar{}, Local: alerts.NewLocal(), onlyLook: o.OnlyLook}
	a.level.Set(c.Log.Level)
	a.Log = console.NewLog(o.Err, c.Log.Format, a.level)
	o.Libraries.Use(a.Log)
	return a
}
