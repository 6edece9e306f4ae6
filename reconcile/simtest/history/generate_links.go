package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// ties are how the rows and the sandboxes of a provider know each other, and what proves that one
// is ours.
func (d *draw) ties() string {
	var words []string
	link := ""
	switch d.kind {
	case "full":
		link = d.one("both", "both", "id", "label", "name", "named")
	case "coding-agent":
		link = d.one("id", "id", "name")
	}
	if link != "" {
		words = append(words, "link="+link)
	}
	lasting := d.maybe(3, "lasting=yes")
	words = append(words, lasting, d.maybe(6, "owns="+d.one("prefix", "rows")))
	if lasting != "" { // by dice of its own: what a seed drew before stays as it was
		words = append(words, dice{rand.New(rand.NewPCG(d.out.Seed, 0x7ec0))}.maybe(2, "record=yes"))
	}
	return strings.Join(words, " ")
}

// names are sandboxes that go on under their names: as later sandboxes of them, and for later tasks.
func (d *draw) names() {
	d.times(2, 6, func() {
		d.at(d.soon(), "sandbox %s renew %s", d.task(), d.one("", "", "for 20s", "for 1m", "for 4m"))
	})
	d.times(1, 4, func() {
		name, at := fmt.Sprintf("n%d", 1+d.IntN(2)), d.soon()
		for range 2 {
			id := fmt.Sprintf("t%d", len(d.tasks)+1)
			d.tasks = append(d.tasks, id)
			d.at(at, "task %s new name=%s %s", id, name, d.habits(1))
			at += d.between(time.Minute, 20*time.Minute)
		}
		if at < d.lasts {
			d.at(at, "sandbox %s renew", d.tasks[len(d.tasks)-1])
		}
	})
	d.either()
}

// owners are sandboxes that pass from one owner to another by their labels.
func (d *draw) owners() {
	d.times(1, 4, func() {
		at := d.soon()
		switch d.IntN(4) {
		case 0, 1:
			d.at(at, "sandbox %s disown %s", d.task(), d.one("", "twin"))
		case 2:
			d.at(at, "platform %s 2 provider=%s", d.one("foreign", "twins"), d.cloud())
			d.at(at+d.between(time.Second, 10*time.Minute), "sandbox %s adopt", d.one("foreign", "twin"))
		case 3:
			d.at(at, "platform leak 2 provider=%s", d.cloud())
			d.at(at+d.between(time.Second, 9*time.Minute), "sandbox leak disown %s", d.one("", "twin"))
		}
	})
	d.spares()
	d.either()
}

// spares are sandboxes that wait for tasks and are claimed by one, whose own is long in coming.
func (d *draw) spares() {
	d.times(1, 3, func() {
		id, cloud, at := fmt.Sprintf("t%d", len(d.tasks)+1), d.cloud(), d.soon()
		d.tasks = append(d.tasks, id)
		d.at(at, "platform foreign 1 provider=%s age=1h", cloud)
		d.at(at, "task %s new pick=5s row=1m30s provider=%s act=40s", id, cloud)
		d.at(at+d.between(10*time.Second, time.Minute), "sandbox foreign adopt %s", id)
	})
}
