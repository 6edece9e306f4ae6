package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// How often a daemon looks whether a canary is due, and how long the provider may take to make one.
const (
	plantEvery  = time.Minute
	plantWithin = time.Minute
)

// Plant makes a canary where the config asks for one and it is due. It harms nothing when it fails; that is logged, and
// kept in the ledger where the provider was asked.
func (a *App) Plant(ctx context.Context) {
	policy := a.Config.Policy()
	if !policy.Canary.On() {
		return
	}
	if err := a.plant(ctx, &policy); err != nil && ctx.Err() == nil {
		a.Log.WarnContext(ctx, "canary not planted", "err", err)
	}
}

func (a *App) plant(ctx context.Context, policy *reconcile.Policy) error {
	p := policy.Canary
	provider, open := a.Providers[p.Provider]
	if !open {
		return fmt.Errorf("plant a canary: the provider %s is not open", p.Provider)
	}
	planter := reconcile.CapabilitiesOf(provider).Planter
	if planter == nil {
		return fmt.Errorf("plant a canary: nothing can be made at %s", p.Provider)
	}
	name := a.Config.CanaryName(randomID())
	held, err := a.wouldHold(ctx, policy)
	if err != nil || held {
		return err
	}
	due, err := a.Ledger.PlantCanary(ctx, reconcile.Canary{Provider: p.Provider, Name: name}, p)
	if err != nil || !due {
		return err
	}
	asked, cancel := context.WithTimeout(ctx, plantWithin)
	defer cancel()
	id, err := planter.Plant(asked, p.Template, name)
	failed := ""
	if err != nil {
		failed = text.Clip(err.Error(), 500)
	}
	return errors.Join(err, a.Ledger.CanaryPlanted(context.WithoutCancel(ctx), name, id, failed))
}

// wouldHold reports whether operators or the rule's own false positives keep canaries there now: then none is made.
func (a *App) wouldHold(ctx context.Context, policy *reconcile.Policy) (bool, error) {
	controls, err := a.Ledger.Controls(ctx)
	if err != nil {
		return false, err
	}
	m := reconcile.Memory{Controls: controls}
	effective := policy.Effective(&m)
	holds := effective.Holds(&controls, &reconcile.Action{Rule: reconcile.CanaryRule, Provider: policy.Canary.Provider,
		Step: reconcile.StepTerminate})
	return len(holds) > 0, nil
}

// randomID tells one canary from all others.
func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// plants makes canaries as they fall due, beside the passes, by the config in force.
func (d *Daemon) plants(ctx context.Context) {
	for {
		c, done := d.acquire()
		c.Plant(ctx)
		done()
		select {
		case <-ctx.Done():
			return
		case <-time.After(plantEvery):
		}
	}
}
