package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// talker is a provider that answers each request with an empty list, and then says more than it was
// asked for, on a connection that stays open.
func talker(t *testing.T, more string) (url string, told <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	heard := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				defer r.Body.Close()
				const body = `{"items":[],"total":0}`
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body+more)
				heard <- struct{}{}
				_, _ = conn.Read(make([]byte, 1)) // until it is closed
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/api", heard
}

// TestLibrariesShowNoSecret: net/http tells package log what a server says on a connection where
// nothing was asked. What the program really writes to stderr holds no token, and tells of it.
func TestLibrariesShowNoSecret(t *testing.T) {
	v := newVault(t)
	if code, said := v.says("unasked", "migrate"); code != 0 {
		t.Fatalf("migrate: %s", said)
	}
	url, told := talker(t, "HTTP/1.1 200 OK\r\nX-Token: "+v.secrets["provider's token"]+"\r\n\r\n")
	v.write(v.url, url)
	d := &daemonChild{v.prepare("run"), v.arena}
	d.cmd.Env = append(d.cmd.Env, v.env...)
	d.start(t)
	<-told
	v.reaches("what was said unasked is in the log", func() bool {
		return strings.Contains(d.errs.String(), "Unsolicited response received on idle HTTP channel starting with …")
	})
	for line := range strings.Lines(d.errs.String()) {
		if !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "warning: ") {
			t.Errorf("stderr holds what is not of our log: %q", line)
		}
	}
	v.hear("unasked: raw stderr", d.errs.String())
}
