package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// An Audit says whether the lines of the timeline are those that were written.
type Audit struct {
	Lines    int       // that hang together
	Older    int       // than the chain
	Purged   int64     // by retention, which the chain remembers
	PurgedAt time.Time // the last time
	Head     string    // names the chain up to now: who keeps one knows later that nothing was exchanged
	Broken   string    // what is wrong first; "" when the record is whole
}

// VerifyTimeline reads the whole timeline in one snapshot. head, if there is one, was named by an
// earlier audit: the chain has to go through it.
func (g *Schema) VerifyTimeline(ctx context.Context, head string) (Audit, error) {
	c := chain{wanted: head, sums: map[int64][]byte{}}
	err := g.inSnapshot(ctx, func(tx pgx.Tx) error {
		return read(ctx, tx, []reading{
			each("audit_chain", nil, c.scan, func(struct{}) { c.passes() }),
			each("audit_links", nil, scanLink, c.take),
			each("audit_lines", nil, scanNumbered, c.line),
		})
	})
	if err != nil {
		return Audit{}, fmt.Errorf("verify the timeline: %w", err)
	}
	if id, _, _ := strings.Cut(head, ":"); older(id, c.start) {
		return Audit{}, fmt.Errorf("head %s is older than what retention has deleted: take a newer one", head)
	}
	return c.audit(), nil
}

// older reports whether a link comes before another.
func older(id string, than int64) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && n < than
}

// A chain is the timeline while it is read.
type chain struct {
	Audit
	start int64 // the last link that retention deleted
	began int64 // lines up to this one are older
	id    int64 // of the last link
	hash  []byte
	sums  map[int64][]byte // of the lines that were not met yet

	wanted     string
	met        bool // the wanted head
	first      int64
	lineBroken string // what is wrong with the line broken
	linkBroken string // what is wrong with the first link that is
}

func (c *chain) scan(r pgx.Rows) (struct{}, error) {
	err := r.Scan(&c.began, &c.id, &c.hash, &c.Purged, at(&c.PurgedAt))
	c.start = c.id
	return struct{}{}, err
}

// passes notes that the chain goes through its present head.
func (c *chain) passes() {
	c.Head = fmt.Sprintf("%d:%s", c.id, hex.EncodeToString(c.hash))
	c.met = c.met || c.Head == c.wanted
}

// A link is what one statement added to the timeline.
type link struct {
	id      int64
	numbers []int64
	sums    [][]byte
	hash    []byte
}

func scanLink(r pgx.Rows) (link, error) {
	var l link
	return l, r.Scan(&l.id, &l.numbers, &l.sums, &l.hash)
}

func (c *chain) take(l link) {
	want := sha256.Sum256(append(bytes.Clone(c.hash), bytes.Join(l.sums, nil)...))
	fits := l.id == c.id+1 && len(l.numbers) == len(l.sums) && bytes.Equal(l.hash, want[:])
	if !fits && c.linkBroken == "" {
		c.linkBroken = fmt.Sprintf("link %d, of the lines %s, does not follow on link %d", l.id,
			text.Clip(fmt.Sprint(l.numbers), 80), c.id)
	}
	for i := range min(len(l.numbers), len(l.sums)) {
		c.sums[l.numbers[i]] = l.sums[i]
	}
	c.id, c.hash = l.id, l.hash
	c.passes()
}

// numbered is a line of the timeline with its number.
type numbered struct {
	number int64
	reconcile.TimelineEvent
}

func scanNumbered(r pgx.Rows) (numbered, error) {
	var n numbered
	return n, r.Scan(&n.number, at(&n.At), &n.Subject, &n.Kind, &n.What)
}

// sum is what the database computes as timeline_sum.
func (n *numbered) sum() []byte {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %d %d:%s%d:%s%s", n.number, n.At.UnixMicro(), len(n.Subject), n.Subject,
		len(n.Kind), n.Kind, n.What))
	return h[:]
}

func (n *numbered) String() string {
	return fmt.Sprintf("line %d, of %s at %s, %q", n.number, n.Subject, text.Time(n.At), text.Clip(n.What, 120))
}

func (c *chain) line(n numbered) {
	want, known := c.sums[n.number]
	delete(c.sums, n.number)
	switch {
	case known && bytes.Equal(want, n.sum()):
		c.Lines++
	case known:
		c.breaks(n.number, n.String()+", is not what was written")
	case n.number <= c.began:
		c.Older++
	default:
		c.breaks(n.number, n.String()+", was added past the chain")
	}
}

// breaks keeps the first line that is wrong.
func (c *chain) breaks(number int64, why string) {
	if c.first == 0 || number < c.first {
		c.first, c.lineBroken = number, why
	}
}

func (c *chain) audit() Audit {
	for number := range c.sums {
		c.breaks(number, fmt.Sprintf("line %d is missing", number))
	}
	cut := ""
	if c.wanted != "" && !c.met {
		cut = "the chain does not go through " + c.wanted + ": its end was cut off, or all of it was exchanged"
	}
	c.Broken = reconcile.FirstOf(c.lineBroken, c.linkBroken, cut)
	return c.Audit
}
