package reconcile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

const (
	calmFor  = time.Minute      // without a new failure: a cause that is over hurts nobody any more
	quietFor = 10 * time.Minute // the same where no cause is known that could be seen to be over
)

// blamed is what a cause says of the template that it blames: snapshot "light" is inactive.
var blamed = regexp.MustCompile(`(\w+ "[^"]*") is `)

// LastStartWords stand in a cause in front of the moment at which the last sandbox began from the template that it
// blames. Once the cause is over others may have begun: it was the last one before that.
const LastStartWords = "last successful start from it"

// Blames reports whether the likely cause is that a template cannot be used.
func (in *Incident) Blames(template string) bool {
	return strings.Contains(in.Cause, `"`+template+`" is `)
}

// Hurts reports whether the incident is open and users may still be hurt: failures come, or the template that it blames
// cannot be used.
func (in *Incident) Hurts(now time.Time, templates []TemplateSeen) bool {
	quiet := now.Sub(in.LastSeen)
	switch _, again := in.ActiveAgain(templates); {
	case !in.ClosedAt.IsZero():
		return false
	case again:
		return quiet < calmFor
	}
	return quiet < quietFor || slices.ContainsFunc(templates, func(t TemplateSeen) bool {
		return t.Provider == in.Provider && t.State.Unusable() && (t.Name == in.Template || in.Blames(t.Name))
	})
}

// ActiveAgain is the template that the incident blames, where it is active by now.
func (in *Incident) ActiveAgain(templates []TemplateSeen) (t TemplateSeen, again bool) {
	return in.blamedWhere(templates, func(t TemplateSeen) bool { return t.State == TemplateActive })
}

func (in *Incident) blamedWhere(all []TemplateSeen, is func(TemplateSeen) bool) (TemplateSeen, bool) {
	i := slices.IndexFunc(all, func(t TemplateSeen) bool {
		return t.Provider == in.Provider && in.Blames(t.Name) && is(t)
	})
	if i < 0 {
		return TemplateSeen{}, false
	}
	return all[i], true
}

// CauseNow is the likely cause in the tense of now, "" for none; and, where it is over or another by now, a sentence
// with the times of it.
func (in *Incident) CauseNow(now time.Time, templates []TemplateSeen) (cause, times string) {
	t, again := in.ActiveAgain(templates)
	other, changed := in.blamedWhere(templates, func(t TemplateSeen) bool {
		return t.State.Unusable() && !strings.Contains(in.Cause, fmt.Sprintf("%q is %s", t.Name, t.State))
	})
	hurts := in.Hurts(now, templates)
	if hurts && !again && !changed {
		return in.Cause, ""
	}
	times = "The failures were at " + text.Time(in.FirstSeen)
	if in.LastSeen.After(in.FirstSeen) {
		times = fmt.Sprintf("The failures were from %s to %s", text.Time(in.FirstSeen), text.Later(in.FirstSeen, in.LastSeen))
	}
	switch {
	case again:
		times += "; it is active again, last looked at " + text.Later(in.FirstSeen, t.LookedAt)
	case changed && in.ClosedAt.IsZero():
		times = fmt.Sprintf("It is %s by now, seen %s", other.State, text.Time(other.LookedAt))
	}
	cause = strings.Replace(in.Cause, LastStartWords, "last successful start before that", 1)
	return blamed.ReplaceAllString(cause, "$1 was "), times + "."
}

// CauseSaid is the same in one line; "" when no likely cause is known.
func (in *Incident) CauseSaid(now time.Time, templates []TemplateSeen) string {
	cause, times := in.CauseNow(now, templates)
	if cause == "" || times == "" {
		return cause
	}
	return cause + ". " + times
}

// String is the incident as it was at its last failure, or as it was closed.
func (in *Incident) String() string { return in.Said(in.LastSeen, nil) }

// Said is the incident as one line: what failed how often, and why.
func (in *Incident) Said(now time.Time, templates []TemplateSeen) string {
	at, since := "", ""
	if in.Provider != "" {
		at = " at " + in.Provider
	}
	if in.Hurts(now, templates) {
		since = " since " + text.Time(in.FirstSeen)
	}
	cause, times := in.CauseNow(now, templates)
	why := FirstOf(cause, "no likely cause found")
	if in.Cause == "" && in.Error != "" {
		why += ", the error is: " + in.Error
	}
	words := fmt.Sprintf("%d failures by %s%s%s: %s", in.Count, in.Rule, at, since, why)
	if times != "" {
		words += ". " + strings.TrimSuffix(times, ".")
	}
	if !in.ReleasedAt.IsZero() {
		words += "; released by " + in.ReleasedBy.Author
	}
	return words
}
