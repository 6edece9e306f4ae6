package reconcile

import "testing"

// TestPriceOf: the first price that is for such a sandbox counts, and of what a provider does not say none is.
func TestPriceOf(t *testing.T) {
	p := ProviderPolicy{PricePerHour: 0.05, Prices: []Price{
		{Template: "gpu", Size: Size{GPU: 1}, PerHour: 2.5},
		{Region: "eu", Size: Size{CPU: 4}, PerHour: 0.4},
		{Size: Size{CPU: 4, MemoryGiB: 8}, PerHour: 0.3},
		{Template: "light", PerHour: 0.01},
	}}
	for what, c := range map[string]struct {
		of   Billed
		want float64
	}{
		"nothing is known":          {Billed{}, 0.05},
		"by its size":               {Billed{Size: Size{CPU: 4, MemoryGiB: 8}}, 0.3},
		"a rounded size":            {Billed{Size: Size{CPU: 4, MemoryGiB: 7.8}}, 0.3},
		"another size":              {Billed{Size: Size{CPU: 4, MemoryGiB: 7.5}}, 0.05},
		"half of a size":            {Billed{Size: Size{CPU: 4}}, 0.05},
		"by region and size":        {Billed{Region: "eu", Size: Size{CPU: 4, MemoryGiB: 8}}, 0.4},
		"of two the first":          {Billed{Template: "light", Region: "eu", Size: Size{CPU: 4}}, 0.4},
		"by template and size":      {Billed{Template: "gpu", Size: Size{GPU: 1}}, 2.5},
		"the template without size": {Billed{Template: "gpu"}, 0.05},
		"by template":               {Billed{Template: "light", Size: Size{CPU: 2}}, 0.01},
	} {
		if got := p.PriceOf(c.of); got != c.want {
			t.Errorf("%s: $%v, want $%v", what, got, c.want)
		}
	}
}
