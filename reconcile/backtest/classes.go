package backtest

// mostClasses is how many kinds of tasks are told apart; a column that has more is none that classes are made of.
const mostClasses = 100

// A classes numbers the kinds of tasks: by template, and by what the platform calls their kind.
type classes struct {
	names  []classNames
	number map[classNames]uint16
}

// A classNames is a kind of tasks; either may be "".
type classNames struct{ template, kind string }

func newClasses() *classes {
	c := &classes{number: map[classNames]uint16{}}
	c.add(classNames{})
	return c
}

func (c *classes) add(n classNames) uint16 {
	number := uint16(len(c.names)) //nolint:gosec // there are few
	c.names, c.number[n] = append(c.names, n), number
	return number
}

func (c *classes) of(l *Life) uint16 {
	n := classNames{kind: l.Class}
	if l.Task.Template != "" {
		n.template = "template=" + l.Task.Template
	}
	if number, known := c.number[n]; known {
		return number
	}
	if len(c.names) > mostClasses {
		return 0
	}
	return c.add(n)
}

// groups are the kinds by name, with the numbers that belong to each. A name that all have tells nothing apart.
func (c *classes) groups() map[string][]uint16 {
	templates, kinds := map[string][]uint16{}, map[string][]uint16{}
	for i, n := range c.names {
		number := uint16(i) //nolint:gosec // there are few
		if n.template != "" {
			templates[n.template] = append(templates[n.template], number)
		}
		if n.kind != "" {
			kinds[n.kind] = append(kinds[n.kind], number)
		}
	}
	out := map[string][]uint16{}
	for _, group := range []map[string][]uint16{templates, kinds} {
		for name, numbers := range group {
			if len(group) > 1 {
				out[name] = numbers
			}
		}
	}
	return out
}
