package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// real is what real platforms do besides: long commands without a sign, workers that wait for their
// next message, set-ups of minutes, sandboxes that another table explains.
func (d *draw) real(picked []string) {
	m := d.more
	if slices.Contains(picked, "mass") && m.IntN(2) == 0 {
		d.setup("rule systemic count=3")
	}
	m.lasts, m.tasks, m.clouds, m.kind = d.lasts, d.tasks, d.clouds, d.kind
	m.times(0, 4, func() {
		id, at := m.task(), m.soon()
		switch m.IntN(4) {
		case 0, 1:
			m.at(at, "worker %s command for %s", id, m.one("2m30s", "5m", "9m", "10m"))
		case 2:
			m.at(at, "worker %s rest", id)
			if m.IntN(2) == 0 {
				m.at(at+m.between(time.Minute, 40*time.Minute), "user %s answer", id)
			}
		case 3:
			m.at(at, "worker %s command for %s", id, m.one("5m", "9m"))
			m.at(at+m.between(time.Second, 4*time.Minute), "worker %s die", id)
		}
	})
	if m.IntN(3) == 0 {
		m.at(m.soon(), "platform specs %d age=%s", 1+m.IntN(3), m.one("10s", "10m", "1h"))
	}
	m.times(0, 2, func() {
		id := fmt.Sprintf("t%d", 40+len(m.out.Events)) // beyond those that are drawn elsewhere
		if slices.Contains(m.tasks, id) {
			return
		}
		m.at(m.soon(), "task %s new boot=%s bind=%s %s", id, m.one("40s", "4m30s", "7m"), m.one("2s", "1m", "4m40s"),
			m.one("act=40s", "act=9m"))
	})
	d.adversary()
	d.out.Events = append(d.out.Events, m.out.Events...)
}

// adversary is, in some histories, a tenant that attacks the others, and a role of the database that writes into
// the ledger. In some of these nothing else goes wrong, so that nobody else can be to blame.
func (d *draw) adversary() {
	m := d.more
	if m.IntN(6) > 0 || d.kind == "none" {
		return
	}
	if slices.Equal(d.picked, []string{"quiet"}) {
		d.setup("tenants 3 alone=yes")
	} else {
		d.setup("tenants 3")
	}
	for i := range 2 + m.IntN(9) {
		id, at := fmt.Sprintf("x%d", i+1), m.soon()
		m.at(at, "task %s running age=%s sandbox=%s", id, m.one("2m", "1h"), m.one("no", "no", "yes"))
		at += m.between(time.Second, 2*time.Minute)
		if what := m.one("beats", "beats", "ahead", "finished", "vanish", "label", "plant", "break"); what == "break" {
			m.at(at, "sandbox %s break exec", id)
		} else {
			m.at(at, "evil %s %s %s", id, what, m.task())
		}
	}
	d.forgers()
	d.liars()
}

// forgers write rows and events about others, and labels that nothing can hold.
func (d *draw) forgers() {
	m := d.more
	for i := range m.IntN(4) {
		id, at := fmt.Sprintf("x%d", 20+i), m.soon()
		m.at(at, "task %s running age=%s sandbox=%s", id, m.one("2m", "1h"), m.one("no", "yes"))
		at += m.between(time.Second, 2*time.Minute)
		m.at(at, "evil %s %s %s", id, m.one("older", "name", "take", "nul", "beat-for", "finish-for", "plant"), m.task())
	}
}

// liars are providers whose listing and clock lie on purpose. Who blames one tenant alone has none.
func (d *draw) liars() {
	m := d.more
	if slices.Equal(d.picked, []string{"quiet"}) {
		return
	}
	m.times(0, 2, func() {
		m.at(m.soon(), "fault %s list %s", m.cloud(), m.one("lie-failed for 6m", "lie-failed count 1", "lie-old for 6m",
			"lie-old count 2"))
	})
	if m.IntN(3) == 0 {
		m.at(m.soon(), "clock %s jump %s", m.cloud(), m.one("1h", "-1h", "10m"))
	}
	if m.IntN(4) == 0 { // drawn last: what a seed drew before stays as it was
		m.at(m.soon(), "fault %s list lie-swapped %s", m.cloud(), m.one("count 1", "count 2", "for 6m"))
	}
}

// later is what came later than the rest, each by dice of its own, so that what a seed drew before stays as it was:
// providers whose search by link lies and, in one of three histories, what providers push by themselves.
func (d *draw) later() {
	m := dice{rand.New(rand.NewPCG(d.out.Seed, 0xf1d5))}
	for range max(m.IntN(8)-5, 0) {
		at := m.between(30*time.Second, d.lasts*2/3)
		d.at(at, "fault %s find %s", m.one(d.clouds...), m.one("lie-swapped for 6m", "lie-swapped count 2",
			"omit for 6m", "omit count 3", "empty for 4m"))
	}
	p := dice{rand.New(rand.NewPCG(d.out.Seed, 0x9054))}
	if p.IntN(3) > 0 {
		return
	}
	for range 5 + p.IntN(40) {
		d.at(p.between(10*time.Second, d.lasts), "push")
	}
}
