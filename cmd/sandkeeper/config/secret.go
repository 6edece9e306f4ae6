package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

const hidden = "***"

// A Secret is a text that is never printed: not by fmt, slog or JSON. The text is behind
// a pointer, which also hides it where fmt does not ask String, in unexported fields.
type Secret struct{ text *string }

// NewSecret hides the text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal is the text itself, for the one place that needs it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty reports whether there is no text.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// String hides the text.
func (Secret) String() string { return hidden }

// GoString hides the text from %#v.
func (Secret) GoString() string { return hidden }

// LogValue hides the text from the log.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text from JSON.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// readSecrets reads the files that hold secrets. Relative names are of the folder of the
// config.
func (c *Config) readSecrets(r *report, dir string) {
	s := secretFiles{r, dir, &c.Files}
	s.read("database", &c.Database, c.DatabaseFile)
	s.read("tasks.database", &c.Tasks.Database, c.Tasks.DatabaseFile)
	s.read("tasks.webhook.secret", &c.Tasks.Webhook.Secret, c.Tasks.Webhook.SecretFile)
	for step, call := range c.calls() {
		s.read("tasks."+step+".call.token", &call.Token, call.TokenFile)
		s.read("tasks."+step+".call.secret", &call.Secret, call.SecretFile)
	}
	for i := range c.Alerts.Notify {
		n, key := &c.Alerts.Notify[i], fmt.Sprintf("alerts.notify[%d]", i)
		s.read(key+".url", &n.URL, n.URLFile)
		s.read(key+".secret", &n.Secret, n.SecretFile)
	}
	s.read("telemetry.headers", &c.Telemetry.Headers, c.Telemetry.HeadersFile)
	c.readOperatorKeys(s)
	for i := range c.Providers {
		p := &c.Providers[i]
		s.read(fmt.Sprintf("providers[%d].token", i), &p.Token, p.TokenFile)
		p.readLinkKey(s, fmt.Sprintf("providers[%d].link.key_file", i))
		for name, file := range p.Extra {
			if name, is := strings.CutSuffix(name, "_file"); is && isSecret(name) {
				s.readOwn(p, fmt.Sprintf("providers[%d].", i), name, file)
			}
		}
	}
	if c.Tasks.Database.Empty() {
		c.Tasks.Database = c.Database
	}
	if f := c.Web.ConfigFile; f != "" {
		c.Web.ConfigFile = s.from(f)
	}
}

type secretFiles struct {
	*report
	dir  string
	have *[]string // those that were read
}

func (s secretFiles) from(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}

// read fills a secret from the file that the key with _file behind it names.
func (s secretFiles) read(key string, secret *Secret, name string) {
	fileKey := key + "_file"
	if !s.given(fileKey) || s.bad[fileKey] {
		return
	}
	if s.given(key) {
		s.fail(fileKey, "is given together with "+lastKey(key), "keep one of them")
		return
	}
	s.at[key] = s.at[fileKey] // what is wrong with the secret is shown at its file
	text, err := readSecret(s.from(name))
	if err != nil {
		s.fail(fileKey, err.Error(), "put the secret into that file, readable for this user")
		s.bad[key] = true
		return
	}
	*secret, *s.have = NewSecret(text), append(*s.have, s.from(name))
}

// readOwn is read for a credential that only some kinds have.
func (s secretFiles) readOwn(p *ProviderConfig, section, name, file string) {
	secret := p.Secrets[name]
	s.read(section+name, &secret, file)
	if p.Secrets == nil {
		p.Secrets = map[string]Secret{}
	}
	p.Secrets[name] = secret
}

func lastKey(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// readSecret reads a small regular file. A pipe or a device could keep the start waiting.
func readSecret(name string) (string, error) {
	stat, err := os.Stat(name)
	if err == nil && !stat.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, withoutPath(err))
	}
	f, err := os.Open(name) // the operator names the file
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, withoutPath(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, withoutPath(err))
	}
	if len(text) > maxSize {
		return "", fmt.Errorf("read %s: it is larger than 256 KiB", name)
	}
	trimmed := strings.TrimSpace(string(text))
	if trimmed == "" {
		return "", fmt.Errorf("read %s: it is empty", name)
	}
	return trimmed, nil
}

// withoutPath keeps a path error from naming the file a second time.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// leastSecret is how many bytes a key has at least that signs what is sent over a network.
const leastSecret = 16

// checkSecret refuses a key that whoever sees one signed message could find by trying. It says its length alone.
func (r *report) checkSecret(key string, secret Secret) {
	if size := len(secret.Reveal()); size > 0 && size < leastSecret {
		r.fail(key, fmt.Sprintf("has %d bytes, fewer than %d: who sees one signed message can find it by trying",
			size, leastSecret), "make one: openssl rand -hex 32")
	}
}
