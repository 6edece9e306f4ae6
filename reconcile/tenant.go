package reconcile

import (
	"fmt"
	"strings"
)

// tenantMark stands between a source and the tenant whose part of it is meant: "link@acme". No entry and no
// column has it in its name.
const tenantMark = "@"

// mostTenant is how much of a tenant's name is kept. What is longer, or has other characters than names have,
// is told apart by a sum: tenants may choose their names.
const mostTenant = 40

// TenantName is a tenant as texts and sources name it.
func TenantName(said string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return -1
	}, said)
	if plain == said && len(said) <= mostTenant {
		return said
	}
	return fmt.Sprintf("%.*s~%016x", mostTenant-17, plain, Sum(said))
}

// nobody stands for the tenant of what is nobody's as far as anybody knows. No tenant is called so.
const nobody = "?"

// OfTenant is the part of a source that is one tenant's; with "" that which is of no known tenant.
func OfTenant(source, tenant string) string { return source + tenantMark + FirstOf(tenant, nobody) }
