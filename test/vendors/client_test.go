package vendors

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// key is the credential of the simulated accounts.
const key = "secret-key"

// patience is how long a client may take for one command, with all its own retries.
const patience = 90 * time.Second

// A client is a process that carries out commands with a vendor's client.
type client struct {
	t       *testing.T
	in      io.Writer
	answers chan []byte
	errs    *bytes.Buffer // read it only when the process is over
	stop    func()
}

// A box is a sandbox as a vendor's client shows it.
type box struct {
	ID, State, Name, Session string
	Labels                   map[string]string
}

// ran is what became of a command in a sandbox.
type ran struct {
	Exit   int
	Output string
}

// complaint is what a client throws.
type complaint struct{ Name, Message string }

// newClient starts a script of this folder. It knows nothing of the user who runs the test.
func newClient(t *testing.T, script, url, key string) *client {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", script)
	cmd.Dir = installed
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "VENDOR_URL=" + url, "VENDOR_KEY=" + key}
	c := &client{t: t, answers: make(chan []byte), errs: &bytes.Buffer{}}
	cmd.Stderr = c.errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.in = in
	c.listen(cmd, out)
	return c
}

// listen hands on the answers until the process ends.
func (c *client) listen(cmd *exec.Cmd, out io.Reader) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer close(c.answers)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				_ = cmd.Wait() // it was killed
				return
			}
			c.answers <- line
		}
	}()
	c.stop = func() {
		_ = cmd.Process.Kill()
		for range c.answers { // nobody waits for them any more
		}
		<-over
	}
	c.t.Cleanup(c.stop)
}

// an order is one command; what it does not need is left out.
type order struct {
	Do      string            `json:"do"`
	ID      string            `json:"id,omitempty"`
	Name    string            `json:"name,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Command string            `json:"command,omitempty"`
	Path    string            `json:"path,omitempty"`
	Text    string            `json:"text,omitempty"`
}

// try carries out an order into result, or returns what the client threw.
func (c *client) try(o order, result any) *complaint {
	c.t.Helper()
	line, err := json.Marshal(o)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.stop()
		c.t.Fatalf("%s: the client is gone: %v\n%s", line, err, c.errs)
	}
	select {
	case answer, ok := <-c.answers:
		if !ok {
			c.t.Fatalf("%s: the client died:\n%s", line, c.errs)
		}
		return c.read(line, answer, result)
	case <-time.After(patience):
		c.stop()
		c.t.Fatalf("%s: no answer within %s\n%s", line, patience, c.errs)
	}
	return nil
}

func (c *client) read(line, answer []byte, result any) *complaint {
	c.t.Helper()
	var a struct {
		OK    json.RawMessage
		Error *complaint
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		c.t.Fatalf("%s: %v in %s", line, err, answer)
	}
	if a.Error == nil && result != nil {
		if err := json.Unmarshal(a.OK, result); err != nil {
			c.t.Fatalf("%s: %v in %s", line, err, answer)
		}
	}
	return a.Error
}

// must carries out an order that has to succeed.
func (c *client) must(o order, result any) {
	c.t.Helper()
	if e := c.try(o, result); e != nil {
		c.t.Fatalf("%s of %s%s: the vendor's client says %s: %s", o.Do, o.ID, o.Name, e.Name, e.Message)
	}
}
