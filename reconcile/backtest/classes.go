package backtest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// mostClasses is how many kinds of tasks are told apart; a column that has more is none that classes are made of.
const mostClasses = 1000

// A classes numbers the kinds of tasks: by template, by what the platform calls their kind, by provider, and by the
// part of the day in which they were made.
type classes struct {
	names  []classNames
	number map[classNames]uint16
}

// A classNames is a kind of tasks; each may be "".
type classNames struct{ template, kind, provider, hour string }

// all are the names that are known.
func (n *classNames) all() []string { return []string{n.template, n.kind, n.provider, n.hour} }

func newClasses() *classes {
	c := &classes{number: map[classNames]uint16{}}
	c.add(classNames{})
	return c
}

func (c *classes) add(n classNames) uint16 {
	number := uint16(len(c.names))
	c.names, c.number[n] = append(c.names, n), number
	return number
}

func (c *classes) of(l *Life) uint16 {
	n := classNames{kind: l.Class}
	if l.Task.Template != "" {
		n.template = "template=" + l.Task.Template
	}
	if l.Task.Provider != "" {
		n.provider = "provider=" + l.Task.Provider
	}
	if part := reconcile.HourPart(l.Task.CreatedAt); part != "" {
		n.hour = reconcile.ClassHour + "=" + part
	}
	if number, known := c.number[n]; known {
		return number
	}
	if len(c.names) > mostClasses {
		return 0
	}
	return c.add(n)
}

// A group is a class of tasks: its name, and which of the kinds belong to it, by number.
type group struct {
	name  string
	has   []bool
	first uint16
}

// byHour reports whether the class is a part of the day.
func (g *group) byHour() bool { return strings.HasPrefix(g.name, reconcile.ClassHour+"=") }

// groups are the classes in the order of their names. A name that all have tells nothing apart.
func (c *classes) groups() (out []group) {
	for by := range len(c.names[0].all()) {
		named := map[string]group{}
		for i := range c.names {
			name := c.names[i].all()[by]
			if name == "" {
				continue
			}
			g, known := named[name]
			if !known {
				g = group{name, make([]bool, len(c.names)), uint16(i)}
			}
			g.has[i] = true
			named[name] = g
		}
		if len(named) > 1 {
			out = slices.AppendSeq(out, maps.Values(named))
		}
	}
	slices.SortFunc(out, func(a, b group) int { return cmp.Compare(a.name, b.name) })
	return out
}

// of are the samples of a class, and the others.
func (g *group) of(samples []sample) (own, others []sample) {
	n := g.count(samples)
	own, others = make([]sample, 0, n), make([]sample, 0, len(samples)-n)
	for i := range samples {
		if g.has[samples[i].class] {
			own = append(own, samples[i])
		} else {
			others = append(others, samples[i])
		}
	}
	return own, others
}

// count is how many of the samples are of the class.
func (g *group) count(samples []sample) (n int) {
	for i := range samples {
		n += count(g.has[samples[i].class])
	}
	return n
}

// matters reports whether what the class measures is of another nature than what the others do.
func matters(own, others []sample) bool {
	return apart(thinned(valuesOf(own)), thinned(valuesOf(others))) > clearly
}

// valuesOf are what the samples measure that tell.
func valuesOf(samples []sample) (out []measured) {
	for i := range samples {
		if samples[i].tells() {
			out = append(out, measured{samples[i].ended, samples[i].longest})
		}
	}
	return out
}
