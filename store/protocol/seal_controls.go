package protocol

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// ModeConfig is what the ledger keeps of a rule that was given back to the config.
const ModeConfig reconcile.Mode = "config"

// A Lift says who ended a pause or a hold; its At is zero while nobody has.
type Lift struct {
	reconcile.Attribution
	At   time.Time
	Seal string
}

// A ModeRequest is what was asked of a rule's mode: off, observe, or [ModeConfig].
type ModeRequest struct {
	reconcile.Attribution
	Rule string
	Mode reconcile.Mode
	At   time.Time
	Seal string
}

// HoldLift is the request that lifts a hold.
func HoldLift(h *reconcile.Hold, l Lift) []string {
	return append([]string{"unhold", strconv.FormatInt(h.ID, 10), h.Target, instant(h.At)}, l.request()...)
}

// PauseLift is the request that ends a pause.
func PauseLift(id int64, p *reconcile.Pause, l Lift) []string {
	return append([]string{"resume", strconv.FormatInt(id, 10), p.Scope, instant(p.At)}, l.request()...)
}

// IncidentRelease is the request that lets go what an incident holds.
func IncidentRelease(i *reconcile.Incident, l Lift) []string {
	return append([]string{"release incident", i.ID, i.Signature}, l.request()...)
}

func (l Lift) request() []string { return []string{l.Author, l.Reason, instant(l.At)} }

// ReleaseOf is the request that lets the listed subjects pass.
func ReleaseOf(r *reconcile.Release) []string {
	request := []string{"release", r.What, r.Hash, r.Author, r.Reason, instant(r.At), instant(r.Until)}
	return append(request, r.Subjects...)
}

// ModeOf is the request about a rule's mode.
func ModeOf(m *ModeRequest) []string {
	return []string{"mode", m.Rule, string(m.Mode), m.Author, m.Reason, instant(m.At)}
}

// AddHold adds a hold to the controls, unless it was lifted. A lift that somebody without the key
// wrote lifts nothing.
func (s Seals) AddHold(c *reconcile.Controls, h reconcile.Hold, l Lift) {
	if l.At.IsZero() {
		c.Holds = append(c.Holds, h)
	} else if s.On() && !s.Holds(l.Seal, HoldLift(&h, l)) {
		h.Reason += l.ignored("lifted")
		c.Holds = append(c.Holds, h)
		unsigned(c, h.Target, fmt.Sprintf("lifting hold %d", h.ID), l)
	}
}

// AddPause adds a pause to the controls, unless it was ended.
func (s Seals) AddPause(c *reconcile.Controls, id int64, p reconcile.Pause, l Lift) {
	if l.At.IsZero() {
		c.Pauses = append(c.Pauses, p)
	} else if s.On() && !s.Holds(l.Seal, PauseLift(id, &p, l)) {
		p.Reason += l.ignored("resumed")
		c.Pauses = append(c.Pauses, p)
		unsigned(c, p.Scope, "resuming it", l)
	}
}

// AddRelease adds a release to the controls, if somebody with the key asked for it.
func (s Seals) AddRelease(c *reconcile.Controls, r reconcile.Release, seal string) {
	if s.Holds(seal, ReleaseOf(&r)) {
		c.Releases = append(c.Releases, r)
		return
	}
	by := reconcile.Attribution{Author: r.Author, Reason: r.Reason}
	unsigned(c, r.What, fmt.Sprintf("releasing %d subjects", len(r.Subjects)), Lift{Attribution: by, At: r.At})
}

// AddIncident adds an open incident to the controls. A release of it by somebody without the key
// lets nothing go.
func (s Seals) AddIncident(c *reconcile.Controls, i reconcile.Incident, seal string) {
	if l := releaseOf(&i, seal); !l.At.IsZero() && !s.Holds(seal, IncidentRelease(&i, l)) {
		unsigned(c, "incident:"+i.ID, "releasing it", l)
	}
	c.Incidents = append(c.Incidents, s.Incident(i, seal))
}

// Incident is the incident as it counts: released only by somebody with the key.
func (s Seals) Incident(i reconcile.Incident, seal string) reconcile.Incident {
	if l := releaseOf(&i, seal); !l.At.IsZero() && !s.Holds(seal, IncidentRelease(&i, l)) {
		i.ReleasedAt, i.ReleasedBy = time.Time{}, reconcile.Attribution{}
	}
	return i
}

func releaseOf(i *reconcile.Incident, seal string) Lift {
	return Lift{Attribution: i.ReleasedBy, At: i.ReleasedAt, Seal: seal}
}

// AddMode takes what was asked of a mode into account; the requests come in their order. What
// raises a mode needs the key, and to be newer than what lowered it: an old request that is
// written once more raises nothing.
func (s Seals) AddMode(c *reconcile.Controls, m ModeRequest) {
	now, lowered := c.Modes[m.Rule]
	raises := lowered && (m.Mode == ModeConfig || now == reconcile.Off && m.Mode == reconcile.Observe)
	stale := m.At.Before(c.Lowered[m.Rule].At)
	subject := reconcile.SubjectOf(reconcile.SubjectRule, m.Rule)
	if raises && s.On() && (stale || !s.Holds(m.Seal, ModeOf(&m))) {
		unsigned(c, subject, "setting its mode to "+string(m.Mode), Lift{Attribution: m.Attribution, At: m.At})
		return
	}
	c.Unsigned = slices.DeleteFunc(c.Unsigned, func(u reconcile.UnsignedRequest) bool { return u.Subject == subject })
	if m.Mode == ModeConfig {
		delete(c.Modes, m.Rule)
		delete(c.Lowered, m.Rule)
		return
	}
	c.Modes[m.Rule], c.Lowered[m.Rule] = m.Mode, reconcile.Lowering{Attribution: m.Attribution, At: m.At}
}

// Modes are the modes that are lowered after all that was asked, in its order.
func (s Seals) Modes(asked []ModeRequest) map[string]reconcile.Mode {
	c := reconcile.Controls{Modes: map[string]reconcile.Mode{}, Lowered: map[string]reconcile.Lowering{}}
	for _, m := range asked {
		s.AddMode(&c, m)
	}
	return c.Modes
}

func (l Lift) ignored(what string) string {
	return fmt.Sprintf("; %s by %s at %s without the operator key, which is ignored", what, saidAuthor(l.Author),
		text.Time(l.At))
}

func unsigned(c *reconcile.Controls, subject, what string, l Lift) {
	c.Unsigned = append(c.Unsigned, reconcile.UnsignedRequest{Subject: subject, What: fmt.Sprintf(
		"%s is not signed with the operator key, so ignored; said to be asked at %s by %s: %s",
		what, text.Time(l.At), saidAuthor(l.Author), text.Clip(l.Reason, 200))})
}
