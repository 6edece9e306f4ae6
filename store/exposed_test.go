package store

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestExposed(t *testing.T) {
	loopback := func(host string) bool { return host == "localhost" || host == "127.0.0.1" }
	for url, want := range map[string]string{
		"postgres://u@db.example.com/d":                           "unencrypted", // prefer: TLS only if both want it
		"postgres://u@db.example.com/d?sslmode=disable":           "unencrypted",
		"postgres://u@db.example.com/d?sslmode=require":           "need not prove",
		"postgres://u@db.example.com/d?sslmode=verify-full":       "",
		"postgres://u@localhost/d?sslmode=disable":                "",
		"postgres:///d?host=/var/run/postgresql":                  "",
		"postgres://u@localhost,db.example.com/d?sslmode=disable": "unencrypted",
	} {
		c, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := Exposed(c, loopback); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
