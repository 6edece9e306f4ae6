package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"

	"github.com/goccy/go-yaml"
	toolkit "github.com/prometheus/exporter-toolkit/web"
	"golang.org/x/crypto/bcrypt"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Listen takes the address that a key of the config names, so that a process that cannot have it ends
// before it begins anything. It does not judge the address, [CheckListen] does.
func Listen(ctx context.Context, key, address string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; free the address, or change %s", address, err, key)
	}
	return l, nil
}

// CheckListen refuses an address that others can reach while the config file asks nobody
// who he is, and a config file that the exporter-toolkit does not take. configFile is ""
// when there is none.
func CheckListen(address, configFile string) error {
	if err := toolkit.Validate(configFile); err != nil {
		return fmt.Errorf("web.config_file %s is refused: %s; its format is that of Prometheus's exporter-toolkit",
			configFile, unquoted(err.Error()))
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("web.listen %q is no address: %w; write it like 127.0.0.1:8080", address, err)
	}
	if text.Loopback(host) {
		return nil
	}
	asks, err := asksWho(configFile)
	if err != nil {
		return err
	}
	if asks {
		return nil
	}
	return fmt.Errorf("listen on %s is refused: anybody who reaches the port could read every task and sandbox; "+
		"name users in web.config_file (basic_auth_users, or client certificates by client_auth_type: "+
		"RequireAndVerifyClientCert with client_ca_file), or listen on 127.0.0.1", address)
}

// quoted is what the toolkit quotes of a file: values, and keys that do not look like one.
var quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|field [^ ]*[^a-z_ ][^ ]* not")

// unquoted is what is wrong with a file of passwords, without what stands in it.
func unquoted(said string) string { return quoted.ReplaceAllString(said, "…") }

// asksWho reports whether the config file lets nobody in who has not said who he is: with
// users, or with client certificates of an authority that the file names. Without a named
// authority every public one would do.
func asksWho(configFile string) (bool, error) {
	if configFile == "" {
		return false, nil
	}
	c, err := readConfig(configFile)
	if err != nil {
		return false, err
	}
	certificates := c.TLS.Auth == "RequireAndVerifyClientCert" && c.TLS.CA+c.TLS.CAFile != ""
	return len(c.Users) > 0 || certificates, nil
}

// TLS reports whether the page is served by HTTPS.
func TLS(configFile string) bool {
	if configFile == "" {
		return false
	}
	c, err := readConfig(configFile)
	return err == nil && c.TLS.Cert+c.TLS.CertFile != ""
}

// Open reports whether others can reach the address and no TLS hides what goes over the network.
func Open(address, configFile string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && !text.Loopback(host) && !TLS(configFile)
}

// An accessConfig is what of the exporter-toolkit's file tells who may come in, and how.
type accessConfig struct {
	Users map[string]string `yaml:"basic_auth_users"`
	TLS   struct {
		Auth     string `yaml:"client_auth_type"`
		CA       string `yaml:"client_ca"`
		CAFile   string `yaml:"client_ca_file"`
		Cert     string `yaml:"cert"`
		CertFile string `yaml:"cert_file"`
	} `yaml:"tls_server_config"`
}

// CheckPassword is an error unless the file has the user with this password.
func CheckPassword(configFile, user, password string) error {
	if configFile == "" {
		return errors.New("there is no web.config_file, so nobody has a password")
	}
	c, err := readConfig(configFile)
	if err != nil {
		return err
	}
	hash, known := c.Users[user]
	if !known || bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) != nil {
		return fmt.Errorf("wrong password, or %s is no user of %s", user, configFile)
	}
	return nil
}

func readConfig(file string) (accessConfig, error) {
	var c accessConfig
	text, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return c, fmt.Errorf("read web.config_file: %w", err)
	}
	if err := yaml.Unmarshal(text, &c); err != nil { // unreachable unless the toolkit takes more than this does
		return c, fmt.Errorf("read web.config_file %s: it is no YAML that sandkeeper can read", file)
	}
	return c, nil
}
