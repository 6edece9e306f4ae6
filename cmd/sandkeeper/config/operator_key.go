package config

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// OperatorKeyFix is how an operator key is made.
const OperatorKeyFix = "make a key that operators and keeper alone can read, and name its file in operator_key_file: " +
	"(umask 077; head -c 32 /dev/urandom | base64 > operator.key)"

// leastKey is how many bytes a key has at least: as many as the signature.
const leastKey = 32

// OperatorKeys are the keys that sign what operators ask for. The first signs, all of them verify;
// there may be none.
func (c *Config) OperatorKeys() [][]byte {
	var keys [][]byte
	for _, k := range c.operatorKeys {
		keys = append(keys, []byte(k.Reveal()))
	}
	return keys
}

// readOperatorKeys reads the file of operator keys, one a line.
func (c *Config) readOperatorKeys(s secretFiles) {
	const key = "operator_key_file"
	if !s.given(key) || s.bad[key] {
		return
	}
	keys, err := s.keys(c.OperatorKeyFile)
	if err != nil {
		s.fail(key, err.Error(), OperatorKeyFix)
		return
	}
	c.operatorKeys = keys
}

// linkKeyFix is how the key of links is made.
const linkKeyFix = "make a key that platform and keeper alone can read: " +
	"(umask 077; head -c 32 /dev/urandom | base64 > link.key)"

// readLinkKey reads the file of the key that signs links.
func (p *ProviderConfig) readLinkKey(s secretFiles, key string) {
	if !s.given(key) || s.bad[key] {
		return
	}
	keys, err := s.keys(p.Link.KeyFile)
	switch {
	case err != nil:
		s.fail(key, err.Error(), linkKeyFix)
	case len(keys) > 1:
		s.fail(key, "holds more than one key, and a task is searched by one label",
			"keep the key that the platform signs with")
	case p.Link.TaskLabel == "":
		s.fail(key, "signs link.task_label, which is not given", "name the label that holds the task's id, or remove it")
	default:
		p.Link.key = keys[0]
	}
}

// keys reads a file of keys, one a line, that not everybody may read.
func (s secretFiles) keys(file string) ([]Secret, error) {
	name := s.from(file)
	text, err := readSecret(name)
	if err == nil {
		err = forFew(name)
	}
	if err != nil {
		return nil, err
	}
	keys, err := operatorKeys(name, text)
	if err == nil {
		*s.have = append(*s.have, name)
	}
	return keys, err
}

// forFew refuses a file that everybody on the machine can read. Its group may: that is how
// Kubernetes hands out secrets.
func forFew(name string) error {
	stat, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, withoutPath(err))
	}
	if mode := stat.Mode().Perm(); mode&0o007 != 0 {
		return fmt.Errorf("read %s: its permissions %04o let everybody at it: chmod o-rwx", name, mode)
	}
	return nil
}

func operatorKeys(name, text string) ([]Secret, error) {
	var keys []Secret
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key := operatorKey(line)
		if len(key) < leastKey {
			return nil, fmt.Errorf("read %s: line %d has fewer than %d bytes", name, i+1, leastKey)
		}
		keys = append(keys, NewSecret(string(key)))
	}
	return keys, nil
}

// operatorKey is a line as the bytes that it stands for: hex, base64, or itself.
func operatorKey(line string) []byte {
	if b, err := hex.DecodeString(line); err == nil && len(b) >= leastKey {
		return b
	}
	for _, as := range []*base64.Encoding{
		base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
	} {
		if b, err := as.DecodeString(line); err == nil && len(b) >= leastKey {
			return b
		}
	}
	return []byte(line)
}
