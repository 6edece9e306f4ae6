package store

import (
	"crypto/tls"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Exposed says what somebody on the way to the server could do; "" when it is nothing: the way does not leave this
// machine, or the server proves who it is.
func Exposed(c *pgx.ConnConfig, loopback func(host string) bool) string {
	type way struct {
		host string
		tls  *tls.Config
	}
	ways := []way{{c.Host, c.TLSConfig}}
	for _, f := range c.Fallbacks {
		ways = append(ways, way{f.Host, f.TLSConfig})
	}
	said := ""
	for _, w := range ways {
		switch {
		case strings.HasPrefix(w.host, "/"), loopback(w.host):
		case w.tls == nil:
			return "may go to " + w.host + " unencrypted: who is on the way reads the password's proof and all rows, and " +
				"can change them"
		case w.tls.InsecureSkipVerify && w.tls.VerifyPeerCertificate == nil && w.tls.VerifyConnection == nil:
			said = "is encrypted, but " + w.host + " need not prove who it is: who is on the way can stand for it"
		}
	}
	return said
}
