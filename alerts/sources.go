package alerts

import "github.com/sandkeeper/sandkeeper/reconcile"

// exported are the sources that have series: of the parts that are one tenant's those that are not trusted, and no
// more than a few, for tenants come and go.
func exported(sources []reconcile.SourceSeen) (out []reconcile.SourceSeen) {
	parts := 0
	for _, s := range sources {
		if _, tenant := reconcile.SourceTenant(s.Name); tenant != "" {
			parts++
			if s.Trusted || parts > mostTenants {
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

func trusted(r *reading, put put) {
	for _, s := range exported(r.Sources) {
		put(bit(s.Trusted), s.Name)
	}
}

func trustedSince(r *reading, put put) {
	for _, s := range exported(r.Sources) {
		if !s.Since.IsZero() {
			put(seconds(s.Since), s.Name)
		}
	}
}
