package backtest

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func changedAbout(ended uint32) string {
	return "behaviour changed about " + text.Time(time.Unix(int64(ended), 0).UTC())
}

// line says where a learned threshold is, and why.
func (g *learning) line(of *reconcile.Learned, why string) string {
	class := ""
	if of.Class != All {
		class = "for " + of.Class + " "
	}
	tasks := fmt.Sprintf("%d finished tasks", of.Samples)
	keeps := fmt.Sprintf("%s keeps %s on %s", text.Exact(of.Target), percent(g.proof.FalsePositives), tasks)
	at := "auto: " + class + text.Exact(of.After)
	if of.After == 0 {
		at = "auto: " + class + "off"
	}
	switch {
	case of.Target == 0:
		return fmt.Sprintf("%s, the default, until %d finished tasks tell: %d do", at, g.proof.Samples, of.Samples)
	case of.Frozen:
		return fmt.Sprintf("%s stays: %s, and nothing is learned until a week is as the one before", at, why)
	case of.From == 0 && of.After == of.Target && why == "":
		return at + ", for " + keeps
	case of.From == 0:
		return reconcile.Joined(at+" stays", why)
	}
	from := fmt.Sprintf("%s, before %s: ", at, text.Exact(of.From))
	if why != "" {
		return from + why
	}
	if of.After != of.Target {
		return from + keeps + ", and it moves by at most a quarter a day"
	}
	return from + keeps
}
