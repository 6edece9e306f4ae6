package history

import (
	"time"
)

// deeds are the calls around which a crash matters most.
var deeds = []string{"Terminate", "Terminate", "Write", "Write", "Settle", "Settle", "Claim", "Record", "Record", "Get",
	"ByID", "Controls", "List", "Live", "TakeLease", "BeginPass", "RenewLease", "Probe", "SaveProbes", "Recall", "Suspend",
	"OpenActions", "any", "Logs", "Notify", "DropLease", "BySandbox", "Find", "Kick"}

// who is a process that makes passes here.
func (d *draw) who() string {
	if d.once {
		return "once"
	}
	return d.one("replica-1", "replica-1", "any")
}

func (d *draw) crashes() {
	d.times(3, 8, func() {
		d.at(d.sometime(), "crash %s %s %d %s %s", d.who(), d.one(deeds...), 1+d.IntN(3), d.one("before", "after"),
			d.maybe(4, "for "+d.one("1m", "5m", "20m")))
	})
	d.times(0, 2, func() { d.at(d.sometime(), "stop %s %s", d.who(), d.maybe(2, "for "+d.one("1m", "10m"))) })
	d.trouble()
}

// trouble is something to do for those who are disturbed at it.
func (d *draw) trouble() {
	d.workers()
	d.at(d.soon(), "user %s stop", d.task())
	d.at(d.soon(), "platform leak %d", 1+d.IntN(3))
}

func (d *draw) frozen() {
	d.times(2, 6, func() {
		d.at(d.sometime(), "freeze %s %s %d %s for %s", d.who(), d.one(deeds...), 1+d.IntN(3), d.one("before", "after"),
			d.one("10s", "20s", "1m", "6m"))
	})
	d.times(1, 3, func() { d.at(d.sometime(), "lease %s %s %d", d.who(), d.one(deeds...), 1+d.IntN(3)) })
	d.trouble()
	d.users()
}

func (d *draw) operators() {
	d.times(2, 6, func() {
		target := d.one("task:"+d.task(), "task:"+d.task(), "provider:"+d.cloud(), "label:app=ours")
		scope := d.one("all", "rule:orphan", "rule:heartbeat-lost", "provider:"+d.cloud())
		span := d.maybe(2, "for "+d.span(2*time.Minute, 30*time.Minute))
		switch d.IntN(9) {
		case 0, 1:
			d.at(d.soon(), "operator hold %s %s", target, span)
		case 2:
			d.at(d.soon(), "operator pause %s %s", scope, span)
		case 3:
			d.at(d.soon(), "operator resume %s", scope)
		case 4:
			d.at(d.soon(), "operator mode %s %s", d.one("orphan", "heartbeat-lost", "stop-ignored"),
				d.one("observe", "off", "clear"))
		case 5:
			d.at(d.soon(), "operator terminate %s %s %s", d.task(), d.maybe(2, "running"), d.maybe(3, "anyway"))
		case 6:
			d.at(d.soon(), "operator emergency %s %s", d.maybe(3, "running"), d.maybe(3, "anyway"))
		case 7:
			d.at(d.soon(), "config rule %s remedy=quarantine", d.one(
				"orphan", "idle-broken", "finished-lingering", "stop-ignored",
				"errored", "duplicate"))
			d.times(1, 4, func() { d.at(d.sometime(), "operator restore any") })
		case 8:
			d.at(d.soon(), "operator release %s for 30m", d.one("breaker:orphan", "tasks", "link", "events", "listing:lab"))
		}
	})
	d.trouble()
}

func (d *draw) configs() {
	d.times(2, 5, func() {
		rule := d.one("orphan", "heartbeat-lost", "stop-ignored", "finished-lingering", "assigned-stale", "idle-broken")
		switch d.IntN(5) {
		case 0:
			d.at(d.soon(), "config rule %s mode=%s", rule, d.one("observe", "off", "enforce"))
		case 1:
			d.at(d.soon(), "config limits per_pass=%s share=%s", d.one("1", "3", "20"), d.one("10", "50"))
		case 2:
			d.at(d.soon(), "config at %s rule %s mode=%s", d.who(), rule, d.one("observe", "off"))
		case 3:
			at := d.soon()
			d.at(at, "config version without %s", d.one("orphan", "idle-broken,duplicate", "stop-ignored"))
			d.at(at+d.between(time.Minute, 20*time.Minute), "config version")
		case 4:
			d.at(d.soon(), "config rule orphan remedy=%s", d.one("quarantine", "terminate", "report"))
		}
	})
	d.trouble()
}

func (d *draw) mass() {
	at := d.soon()
	switch d.IntN(3) {
	case 0:
		d.at(at, "platform leak %d age=%s", 12+d.IntN(14), d.one("1m", "1h"))
	case 1:
		d.at(at, "platform massacre kept=%d", d.IntN(3))
	case 2:
		for _, id := range d.tasks {
			if d.IntN(4) > 0 {
				d.at(at+d.between(0, 30*time.Second), "worker %s %s", id, d.one("die", "die", "hang", "silent"))
			}
		}
	}
	if d.IntN(2) == 0 {
		d.at(at+d.between(10*time.Minute, 30*time.Minute), "operator release breaker:orphan for 1h")
	}
}

// systemic are failures with one cause.
func (d *draw) systemic() {
	at := d.soon()
	d.at(at, "template light %s", d.one("inactive", "missing", "failed"))
	d.at(at+time.Second, "platform batch %d firm=yes template=light %s %s", 6+d.IntN(6), d.maybe(2, "note=yes"),
		d.maybe(2, "retry=2m"))
	d.at(at+d.between(10*time.Minute, 40*time.Minute), "template light active")
	if d.IntN(2) == 0 {
		d.at(at+d.between(10*time.Minute, 40*time.Minute), "operator release-incident all")
	}
}

func (d *draw) clocks() {
	d.times(1, 4, func() {
		domain := d.one("tasks", "ledger", d.cloud())
		by := d.one("", "-") + d.one("3s", "20s", "2m", "10m", "1h")
		if d.IntN(4) == 0 {
			d.at(d.soon(), "clock %s drift %s for %s", domain, d.one("100ms", "-100ms", "1s"), d.one("2m", "10m"))
			return
		}
		d.at(d.soon(), "clock %s jump %s", domain, by)
	})
	d.either()
}

func (d *draw) strangers() {
	d.times(1, 4, func() {
		d.at(d.soon(), "platform %s %d provider=%s age=%s", d.one("twins", "twins", "foreign", "leak"), 1+d.IntN(4),
			d.cloud(),
			d.one("10s", "1h"))
	})
	d.at(d.soon(), "sandbox %s die", d.task())
	d.at(d.sometime(), "sandbox %s reuse %s", d.task(), d.one("", "twin"))
	d.either()
}
