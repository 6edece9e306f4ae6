package platform

import (
	"container/heap"
	"time"
)

// An agenda is what the people and programs of the platform will do and when. It is worked off
// when somebody looks; nothing runs by itself.
type agenda struct {
	items []item
	made  int
}

type item struct {
	at  time.Time
	seq int // first put down, first done
	do  func()
}

// Len, Less, Swap, Push and Pop are those of a heap.
func (a *agenda) Len() int { return len(a.items) }

// Less orders by time, then by when it was put down.
func (a *agenda) Less(i, j int) bool {
	x, y := &a.items[i], &a.items[j]
	return x.at.Before(y.at) || x.at.Equal(y.at) && x.seq < y.seq
}

// Swap swaps two items.
func (a *agenda) Swap(i, j int) { a.items[i], a.items[j] = a.items[j], a.items[i] }

// Push adds an item.
func (a *agenda) Push(x any) {
	if it, ok := x.(item); ok {
		a.items = append(a.items, it)
	}
}

// Pop takes the last one.
func (a *agenda) Pop() any {
	last := a.items[len(a.items)-1]
	a.items = a.items[:len(a.items)-1]
	return last
}

// put writes something down for a moment.
func (a *agenda) put(at time.Time, do func()) {
	a.made++
	heap.Push(a, item{at: at, seq: a.made, do: do})
}

// due takes the next item that is due by now.
func (a *agenda) due(now time.Time) (item, bool) {
	if len(a.items) == 0 || a.items[0].at.After(now) {
		return item{}, false
	}
	it, ok := heap.Pop(a).(item)
	return it, ok
}
