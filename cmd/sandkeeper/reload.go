package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// reloadEvery is how often the config's files are looked at. Their content is what counts:
// a ConfigMap changes by a link that is moved, an editor's file by one that is renamed.
const reloadEvery = time.Second

// retireAfter is how long the connections of a config that was replaced are kept, for the
// jobs that began with it.
const retireAfter = 2 * time.Minute

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
func (d *daemon) watchConfig(ctx context.Context) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	ticker := time.NewTicker(reloadEvery)
	defer ticker.Stop()
	files := d.crew.Load().config.Files
	seen := fingerprint(files)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
		case <-ticker.C:
			if now := fingerprint(files); bytes.Equal(now, seen) {
				continue
			}
		}
		seen = fingerprint(files)
		d.reload(ctx)
		files = d.crew.Load().config.Files
	}
}

// fingerprint is of the content of files. One that cannot be read now counts as empty.
func fingerprint(files []string) []byte {
	h := sha256.New()
	for _, name := range files {
		text, _ := os.ReadFile(name) // the operator names the files; reading them again tells what is wrong
		fmt.Fprintf(h, "%d\x00%s", len(text), text)
	}
	return h.Sum(nil)
}

// reload puts the config of now in force, as a whole or not at all.
func (d *daemon) reload(ctx context.Context) {
	c, err := d.options.load()
	if err == nil {
		err = d.apply(ctx, c)
	}
	d.reading.note(time.Now(), err)
	if err != nil {
		d.log.ErrorContext(ctx, "config refused, the one before stays in force", "err", err)
		return
	}
	d.log.InfoContext(ctx, "config read again, it is in force")
}

// apply opens what a config needs and hands the work over to it.
func (d *daemon) apply(ctx context.Context, c *Config) error {
	old := d.crew.Load()
	if old != nil {
		if key := fixedKey(old.config, c); key != "" {
			return fmt.Errorf("%s cannot change while the process runs: restart it", key)
		}
	}
	w := &world{config: c, log: d.log, level: d.level, pool: d.pool, ledger: d.ledger, shared: true}
	if err := w.openOutside(ctx); err != nil {
		w.close()
		return err
	}
	k := w.keeper(nil)
	k.Holder, k.Queue = d.holder, d.queue
	d.level.Set(c.Log.Level)
	d.crew.Store(newCrew(d.stop, w, k))
	d.queue.Reschedule(c.Schedule.Quick.Schedule, c.Schedule.Full.Schedule)
	if old != nil {
		time.AfterFunc(retireAfter, old.world.close)
	}
	return nil
}

// fixedKey is the first key that differs and that a running process cannot change.
func fixedKey(a, b *Config) string {
	switch {
	case a.Installation != b.Installation:
		return "installation"
	case a.Database.Reveal() != b.Database.Reveal():
		return "database"
	case a.Web.Listen != b.Web.Listen:
		return "web.listen"
	case a.Web.ConfigFile != b.Web.ConfigFile:
		return "web.config_file"
	case a.Log.Format != b.Log.Format:
		return "log.format"
	}
	return ""
}
