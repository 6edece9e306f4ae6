package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A password of "secret", hashed as cheaply as it can be.
const users = "basic_auth_users:\n  ana: $2a$04$aljNmo63hJSnLyMMFLMg6uLvJbqpggJ8oXW5zCQBDZMYNSvYDgAHG\n"

func configFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestCheckListen(t *testing.T) {
	const refused = "is refused: anybody who reaches the port could read every task and sandbox; name users in web.config_file"
	cert, key := certificate(t)
	tls := "tls_server_config:\n  cert_file: " + cert + "\n  key_file: " + key + "\n"
	verify := tls + "  client_auth_type: RequireAndVerifyClientCert\n"
	cases := map[string]struct {
		address string
		config  string // "-" for none
		want    string // "" when it may listen
	}{
		"this machine":                     {"127.0.0.1:8080", "-", ""},
		"any loopback":                     {"127.9.8.7:8080", "-", ""},
		"its name":                         {"localhost:8080", "-", ""},
		"its IPv6 address":                 {"[::1]:8080", "-", ""},
		"its IPv4 address in IPv6":         {"[::ffff:127.0.0.1]:8080", "-", ""},
		"any port":                         {"127.0.0.1:0", "-", ""},
		"no host":                          {":8080", "-", "listen on :8080 " + refused},
		"every address":                    {"0.0.0.0:8080", "-", "listen on 0.0.0.0:8080 " + refused},
		"every IPv6 address":               {"[::]:8080", "-", "listen on [::]:8080 " + refused},
		"an address of the house":          {"10.0.0.5:8080", "-", refused},
		"next to loopback":                 {"128.0.0.1:8080", "-", refused},
		"a name":                           {"page.internal:8080", "-", refused},
		"a name that looks like loopback":  {"localhost.evil.example:8080", "-", refused},
		"users":                            {":8080", users, ""},
		"users and TLS":                    {":8080", tls + users, ""},
		"no users in an empty file":        {":8080", "", refused},
		"users, but none":                  {":8080", "basic_auth_users: {}\n", refused},
		"TLS lets everybody read":          {":8080", tls, refused},
		"client certificates":              {":8080", verify + "  client_ca_file: " + cert + "\n", ""},
		"client certificates of anybody":   {":8080", tls + "  client_auth_type: RequireAnyClientCert\n", refused},
		"client certificates of the world": {":8080", verify, refused},
		"certificates if there are any":    {":8080", tls + "  client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: " + cert + "\n", refused},
		"an open file on loopback":         {"127.0.0.1:8080", "", ""},
		"a broken file, also on loopback":  {"127.0.0.1:8080", "basic_auth_user: {}\n", "field basic_auth_user not found"},
		"a password that is no hash":       {"127.0.0.1:8080", "basic_auth_users: {ana: secret}\n", "is refused"},
		"a certificate that is not there":  {"127.0.0.1:8080", "tls_server_config: {cert_file: no, key_file: no}\n", "no such file"},
		"no address":                       {"8080", "-", `web.listen "8080" is no address`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			file := ""
			if c.config != "-" {
				file = configFile(t, c.config)
			}
			err := CheckListen(c.address, file)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("CheckListen = %v, want %q", err, c.want)
			}
		})
	}
	if err := CheckListen("127.0.0.1:1", filepath.Join(t.TempDir(), "none.yml")); err == nil || !strings.Contains(err.Error(), "none.yml is refused") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestListen(t *testing.T) {
	l, err := Listen(t.Context(), "web.listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Listen(t.Context(), "web.listen", l.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "listen on "+l.Addr().String()) || !strings.Contains(err.Error(), "change web.listen") {
		t.Errorf("a port in use: %v, want what it was and what to do", err)
	}
}
