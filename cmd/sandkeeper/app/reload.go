package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
)

// reloadEvery is how often the config's files are looked at. Their content is what counts:
// a ConfigMap changes by a link that is moved, an editor's file by one that is renamed.
const reloadEvery = time.Second

// A lastReading is how the last reading of the config ended.
type lastReading struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

func (r *lastReading) note(at time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.err = at, err
}

// last is when the config was read last, and why it was refused.
func (r *lastReading) last() (at time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at, r.err
}

// watchConfig reads the config again when one of its files changes and on SIGHUP, until
// ctx ends. A config that is refused changes nothing: the one before stays in force, and
// log, page and metrics say so.
func (d *Daemon) watchConfig(ctx context.Context) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	ticker := time.NewTicker(reloadEvery)
	defer ticker.Stop()
	l := lookout{read: fingerprint(d.current.Load().Config.Files)}
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-hup:
			asked = true
		case <-ticker.C:
		}
		now := fingerprint(d.current.Load().Config.Files)
		if l.due(now) || asked {
			l.refused = !d.reload(ctx, now)
			l.read = now
		}
	}
}

// A lookout decides when the files of the config are to be read again.
type lookout struct {
	read    string // the fingerprint that was read last
	last    string // the fingerprint of the look before
	refused bool   // the last reading was refused for a reason that may pass
	waited  int    // looks since then
}

// due reports whether to read files that look like now. What is being written is left alone
// until two looks see the same: half a config may say more than a whole one. A config that
// was refused because a database did not answer is tried again after some looks.
func (l *lookout) due(now string) bool {
	steady := now == l.last
	l.last = now
	l.waited++
	if now != l.read {
		return steady
	}
	const patience = 5
	if !l.refused || l.waited < patience {
		return false
	}
	l.waited = 0
	return true
}

// fingerprint is of the content of files. One that cannot be read now counts as empty.
func fingerprint(files []string) string {
	h := sha256.New()
	for _, name := range files {
		text, _ := os.ReadFile(name) // the operator names the files; reading them again tells what is wrong
		fmt.Fprintf(h, "%d\x00%s", len(text), text)
	}
	return string(h.Sum(nil))
}

// reload puts the config of now in force, as a whole or not at all. It reports false when it
// may succeed later without a change of the files.
func (d *Daemon) reload(ctx context.Context, seen string) bool {
	c, err := d.options.Load()
	if err == nil && fingerprint(d.current.Load().Config.Files) != seen {
		return false // written to meanwhile
	}
	if err == nil {
		err = d.apply(ctx, c)
	}
	_, before := d.reading.last()
	d.reading.note(time.Now(), err)
	switch {
	case err == nil:
		d.Log.InfoContext(ctx, "config read again, it is in force")
	case before == nil || before.Error() != err.Error():
		d.Log.ErrorContext(ctx, "config refused, the previous one is still in force", "err", err)
	}
	var mistakes config.Errors
	return err == nil || errors.As(err, &mistakes) || errors.Is(err, errFixed)
}

// errFixed is a change that only a restart can bring about.
var errFixed = errors.New("cannot change while the process runs: restart it")

// apply opens what a config needs and hands the work over to it.
func (d *Daemon) apply(ctx context.Context, c *config.Config) error {
	old := d.current.Load()
	if old != nil {
		if key := fixedKey(old.Config, c); key != "" {
			return fmt.Errorf("%s %w", key, errFixed)
		}
	}
	a := &App{Config: c, Log: d.Log, level: d.level, Pool: d.Pool, Ledger: d.Ledger, Local: d.Local,
		Telemetry: d.Telemetry, shared: true}
	if err := a.openOutside(ctx); err != nil {
		a.Close()
		return err
	}
	if a.Tasks != nil {
		a.Tasks.RememberEvents()
	}
	k := a.Keeper(nil)
	k.Holder, k.Queue = d.holder, d.queue
	d.level.Set(c.Log.Level)
	d.Ledger.Seal(c.OperatorKeys())
	d.replace(newGeneration(d.stop, a, k)) //nolint:contextcheck // a crew outlives the reading of its config
	d.queue.Reschedule(c.Schedule.Quick.Schedule, c.Schedule.Full.Schedule)
	return nil
}

// fixedKey is the first key that differs and that a running process cannot change.
func fixedKey(a, b *config.Config) string {
	switch {
	case a.Installation != b.Installation:
		return "installation"
	case a.Database.Reveal() != b.Database.Reveal():
		return "database"
	case a.Web.Listen != b.Web.Listen:
		return "web.listen"
	case a.Web.Health != b.Web.Health:
		return "web.health"
	case !slices.Equal(a.Web.Hosts, b.Web.Hosts):
		return "web.hosts"
	case a.Web.ConfigFile != b.Web.ConfigFile:
		return "web.config_file"
	case !slices.Equal(a.Web.Operators, b.Web.Operators):
		return "web.operators"
	case !slices.Equal(a.Web.TrustedProxies, b.Web.TrustedProxies):
		return "web.trusted_proxies"
	case a.Log.Format != b.Log.Format:
		return "log.format"
	case !a.Telemetry.Same(&b.Telemetry):
		return "telemetry"
	}
	return ""
}
