package reconcile

import "math"

// A Size is how large a sandbox is, by its provider. What is 0 is not said, or none.
type Size struct {
	CPU, GPU  float64 // how many
	MemoryGiB float64
}

// A Billed is what the price of a sandbox follows.
type Billed struct {
	Template, Region string
	Size
}

// Billed is what the price of the sandbox follows.
func (s *Sandbox) Billed() Billed {
	return Billed{Template: s.Template, Region: s.Region, Size: s.Size}
}

// Billed is what the price of a sandbox follows that the ledger knows.
func (s *SandboxSeen) Billed() Billed {
	return Billed{Template: s.Template, Region: s.Region, Size: s.Size}
}

// A Price is what the sandboxes of a template, in a region or of a size cost. What is not set is any.
type Price struct {
	Template, Region string
	Size
	PerHour float64 // USD
}

func (p Price) fits(b Billed) bool {
	return p.templated(b.Template) && (p.Region == "" || p.Region == b.Region) && p.sized(b.Size)
}

func (p Price) templated(template string) bool { return p.Template == "" || p.Template == template }

func (p Price) sized(s Size) bool {
	return like(p.CPU, s.CPU) && like(p.GPU, s.GPU) && like(p.MemoryGiB, s.MemoryGiB)
}

// like reports whether an amount is the one that is wanted, but for what a provider rounds: 2000 MB are 2 GiB.
func like(wanted, is float64) bool { return wanted == 0 || math.Abs(is-wanted) <= wanted*0.05 }

// Priced reports whether the config says what a sandbox costs.
func (p ProviderPolicy) Priced() bool { return p.PricePerHour > 0 || len(p.Prices) > 0 }

// PriceOf is what a sandbox costs an hour: the first price that is for such a one, else that of the provider.
func (p ProviderPolicy) PriceOf(b Billed) float64 {
	for _, one := range p.Prices {
		if one.fits(b) {
			return one.PerHour
		}
	}
	return p.PricePerHour
}

// PriceRange is the least and the most that a sandbox of the provider costs an hour.
func (p ProviderPolicy) PriceRange() (least, most float64) {
	least, most = p.PricePerHour, p.PricePerHour
	for i, one := range p.Prices {
		if i == 0 && p.PricePerHour == 0 {
			least = one.PerHour // of what has no price nothing is known
		}
		least, most = min(least, one.PerHour), max(most, one.PerHour)
	}
	return least, most
}

// CountedSo is how the money of leaks is counted, in one sentence.
const CountedSo = "USD by price_per_hour or prices: until found, from what was found began, else from the " +
	"sandbox's start; " +
	"since, from the verdict until it was gone or until now; saved, what it would have cost from its end by us until now."
