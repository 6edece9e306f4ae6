package history

import (
	"fmt"
	"time"
)

// themes are the kinds of trouble that a history may be about.
var themes = map[string]func(*draw){
	"workers":      (*draw).workers,
	"sandboxes":    (*draw).sandboxes,
	"users":        (*draw).users,
	"orchestrator": (*draw).orchestrator,
	"listing":      (*draw).listing,
	"calls":        (*draw).calls,
	"toolbox":      (*draw).toolbox,
	"deletes":      (*draw).deletes,
	"database":     (*draw).database,
	"disaster":     (*draw).disaster,
	"ledger":       (*draw).ledger,
	"pipeline":     (*draw).pipeline,
	"crashes":      (*draw).crashes,
	"frozen":       (*draw).frozen,
	"operators":    (*draw).operators,
	"config":       (*draw).configs,
	"mass":         (*draw).mass,
	"systemic":     (*draw).systemic,
	"clocks":       (*draw).clocks,
	"strangers":    (*draw).strangers,
	"names":        (*draw).names,
	"owners":       (*draw).owners,
	"quiet":        func(*draw) {},
}

func (d *draw) times(least, most int, do func()) {
	for range least + d.IntN(most-least+1) {
		do()
	}
}

func (d *draw) workers() {
	d.times(2, 6, func() {
		id, at := d.task(), d.soon()
		switch d.IntN(9) {
		case 0, 1:
			d.at(at, "worker %s die", id)
		case 2:
			d.at(at, "worker %s hang", id)
			d.at(at+d.between(time.Minute, 20*time.Minute), "worker %s %s", id, d.one("wake", "die", "hang"))
		case 3:
			d.at(at, "worker %s wait", id)
			d.at(at+d.between(time.Minute, 40*time.Minute), "user %s answer", id)
		case 4:
			d.at(at, "worker %s silent %s", id, d.one("", "for 3m", "for 8m"))
		case 5:
			d.at(at, "worker %s slow act=%s", id, d.one("4m", "20m"))
		case 6:
			d.at(at, "worker %s ahead by=%s", id, d.one("3s", "10m", "1h"))
			d.at(at+d.between(time.Minute, 10*time.Minute), "worker %s die", id)
		case 7:
			d.at(at, "worker %s %s", id, d.one("lose", "finish"))
		case 8:
			d.at(at, "worker %s never", id)
		}
	})
}

func (d *draw) sandboxes() {
	d.times(2, 6, func() {
		id, at := d.task(), d.soon()
		switch d.IntN(9) {
		case 0:
			d.at(at, "sandbox %s break %s", id, d.one("exec", "files"))
		case 1:
			d.at(at, "sandbox %s hang", id)
			d.at(at+d.between(time.Minute, 5*time.Minute), "sandbox %s mend", id)
		case 2:
			d.at(at, "sandbox %s %s", id, d.one("die", "stop", "fail", "vanish"))
		case 3:
			d.at(at, "sandbox %s pause", id)
			d.at(at+d.between(time.Minute, 30*time.Minute), "sandbox %s resume", id)
		case 4:
			d.at(at, "sandbox %s %s", id, d.one("hollow", "queue", "spin"))
		case 5:
			d.at(at, "sandbox %s unlabel", id)
			d.at(at+d.between(time.Minute, 30*time.Minute), "sandbox %s relabel", id)
		case 6:
			d.at(at, "sandbox %s die", id)
			d.at(at+d.between(time.Second, 10*time.Minute), "sandbox %s reuse %s", id, d.one("", "twin"))
		case 7:
			d.at(at, "user %s stop", id)
			d.at(at+time.Second, "sandbox %s %s", id, d.one("stuck", "refuse"))
		case 8:
			d.at(at, "sandbox %s stop", id)
			d.at(at+d.between(time.Second, 3*time.Minute), "sandbox %s resume", id)
		}
	})
}

func (d *draw) users() {
	d.times(3, 8, func() {
		id, at := d.task(), d.soon()
		switch d.IntN(6) {
		case 0:
			d.at(at, "worker %s finish", id)
			d.at(at+d.between(time.Second, 15*time.Minute), "user %s continue work=%s", id, d.span(time.Minute, 20*time.Minute))
		case 1:
			d.at(at, "user %s stop", id)
		case 2:
			d.at(at, "user %s delete", id)
		case 3:
			d.at(at, "worker %s finish", id)
			d.at(at+d.between(time.Second, 9*time.Minute), "user %s keep for %s", id, d.span(time.Minute, 30*time.Minute))
		case 4:
			d.at(at, "user %s retry", id)
		case 5:
			for i := range 20 { // a busy row
				d.at(at+time.Duration(i)*time.Second, "user %s touch", id)
			}
		}
	})
}

func (d *draw) orchestrator() {
	d.times(2, 5, func() {
		id := fmt.Sprintf("t%d", len(d.tasks)+1)
		d.tasks = append(d.tasks, id)
		d.at(d.soon(), "task %s new crash=%s %s %s", id, d.one("row", "sandbox", "bind", ""),
			d.maybe(2, "again="+d.span(10*time.Second, 4*time.Minute)), d.habits(2))
	})
	if d.IntN(3) == 0 {
		d.at(d.soon(), "orchestrator down for %s", d.span(2*time.Minute, 20*time.Minute))
	}
	if d.IntN(3) == 0 {
		at := d.soon()
		d.at(at, "template light %s", d.one("inactive", "missing", "failed"))
		d.at(at+d.between(5*time.Minute, 30*time.Minute), "template light active")
	}
}

func (d *draw) listing() {
	d.times(1, 4, func() {
		d.at(d.soon(), "fault %s list %s", d.cloud(), d.one(
			"empty for 3m", "empty count 1", "empty for 20m", "cut count 2", "omit for 5m", "omit count 1", "repeat for 10m",
			"lose-labels for 6m", "lose-labels count 1", "stale by 5m for 10m", "stale by 1m for 20m", "same-page count 2",
			"error status 500 for 5m", "error status 401 for 8m", "error status 403 count 3", "error status 404 for 5m",
			"error status 410 count 2", "error status 429 for 4m", "hang for 5m", "drop count 2", "slow by 5s for 10m",
			"error status 503 chance 40 for 20m"))
	})
}

func (d *draw) calls() {
	d.times(1, 4, func() {
		d.at(d.soon(), "fault %s %s %s", d.cloud(), d.one("get", "get", "find", "any", "snapshot", "account", "logs"), d.one(
			"error status 500 for 5m", "error status 401 for 8m", "error status 404 for 6m", "error status 410 for 6m",
			"error status 429 chance 50 for 10m", "hang for 4m", "drop chance 30 for 10m", "slow by 3s for 10m",
			"hang chance 20 for 20m"))
	})
	d.either()
}

func (d *draw) toolbox() {
	d.times(1, 3, func() {
		d.at(d.soon(), "fault %s %s %s", d.cloud(), d.one("toolbox", "exec", "files"), d.one("error status 502 for 10m",
			"hang for 10m", "error status 500 chance 40 for 20m", "error status 429 for 8m", "drop for 8m"))
	})
	d.at(d.soon(), "sandbox %s break %s", d.task(), d.one("exec", "files"))
}

func (d *draw) deletes() {
	d.times(1, 3, func() {
		d.at(d.soon(), "fault %s %s %s", d.cloud(), d.one("delete", "delete", "delete", "stop"), d.one("not-done count 2",
			"not-done for 10m", "done-error status 500 for 20m", "done-drop count 3", "error status 500 for 10m",
			"error status 429 count 4", "hang count 2", "error status 404 count 2", "slow by 4s for 20m"))
	})
	d.times(1, 4, func() { d.at(d.soon(), "platform leak %d age=%s", 1+d.IntN(2), d.one("10s", "1h")) })
	d.times(1, 3, func() { d.at(d.soon(), "user %s stop", d.task()) })
}

// either gives the fault something to be wrong about.
func (d *draw) either() {
	switch d.IntN(4) {
	case 0:
		d.workers()
	case 1:
		d.sandboxes()
	case 2:
		d.users()
	}
}

func (d *draw) database() {
	d.times(1, 4, func() {
		call := d.one("any", "reads", "writes", "Live", "ByID", "BySandbox", "Write", "Clock")
		d.at(d.soon(), "fault tasks %s %s", call, d.one(
			"error for 5m", "error count 3", "hang for 3m", "slow by 4s for 10m", "error chance 30 for 15m",
			"done-error count 3", "standby for 10m"))
	})
	if d.IntN(2) == 0 {
		lag := d.maybe(2, "lag="+d.one("10s", "45s", "3m"))
		d.at(d.soon(), "platform standby %s for %s", lag, d.span(2*time.Minute, 15*time.Minute))
	}
	d.either()
}

func (d *draw) disaster() {
	at := d.soon()
	switch d.IntN(4) {
	case 0:
		d.at(at, "platform backup")
		d.at(at+d.between(time.Minute, 20*time.Minute), "platform restore")
	case 1:
		d.at(at, "platform empty")
		d.at(at+d.between(time.Minute, 20*time.Minute), "platform back")
	case 2:
		d.at(at, "platform labels for %s", d.span(2*time.Minute, 30*time.Minute))
	case 3:
		d.at(at, "platform massacre kept=%d", d.IntN(4))
	}
	d.either()
}

func (d *draw) ledger() {
	d.times(1, 4, func() {
		d.at(d.soon(), "fault ledger %s %s", d.one("any", "reads", "writes", "Record", "Claim", "Settle", "Controls",
			"RenewLease",
			"RenewClaim", "BeginPass", "TakeLease", "SaveProbes", "ReserveProbes", "Recall", "OpenActions"), d.one(
			"error count 2", "error for 3m", "done-error count 3", "done-error chance 30 for 10m", "hang count 1", "hang for 1m",
			"slow by 2s for 10m", "error chance 20 for 20m", "standby for 5m"))
	})
	d.at(d.soon(), "fault platform Notify %s for 10m", d.one("error", "hang", "done-error", "slow by 3s"))
	d.at(d.soon(), "fault queue Kick %s", d.one("lost for 10m", "twice for 10m", "error count 3"))
	d.either()
	d.at(d.soon(), "platform leak 2")
}

func (d *draw) pipeline() {
	d.times(1, 3, func() {
		d.at(d.soon(), "events %s", d.one("down for 3m", "down for 10m", "down part=4 for 6m", "down part=6 for 12m",
			"down part=2 for 5m", "late by=40s for 10m", "late by=2m for 6m"))
	})
	d.either()
}
