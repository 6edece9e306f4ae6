package ui

import "context"

// A Looker is who looks at a page, as far as it matters to what he may ask for. A context carries him to all buttons.
type Looker struct {
	User   string // "" for nobody in particular
	Word   string // "operator", "reader", "only to read"
	Says   string // as whom he is here, and who may act
	Barred string // why his buttons are off, in few words; "" when they are not
}

type lookerKey struct{}

// LookedAtBy is a context in which pages are made for somebody.
func LookedAtBy(ctx context.Context, by Looker) context.Context {
	return context.WithValue(ctx, lookerKey{}, by)
}

// lookerOf is whom a page is made for; without one all buttons are on, and nothing is said of it.
func lookerOf(ctx context.Context) Looker {
	by, _ := ctx.Value(lookerKey{}).(Looker)
	return by
}
