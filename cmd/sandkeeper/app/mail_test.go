package app

import (
	"errors"
	"io"
	"net"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// mailServer is one that takes mail from who knows the password.
func mailServer(t *testing.T) (address string, mail chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mail = make(chan string, 10)
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{taken: mail}, nil }))
	s.Domain, s.AllowInsecureAuth = "x.example", true
	t.Cleanup(func() { _ = s.Close() })
	go func() { _ = s.Serve(l) }() // ends with an error when it is closed
	return l.Addr().String(), mail
}

// A mailSession is one connection to it.
type mailSession struct {
	taken    chan string
	known    bool
	envelope string
}

// AuthMechanisms are how a sender may say who it is.
func (*mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth lets in who knows the password.
func (m *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "keeper" || password != "s3cretToken" {
			return smtp.ErrAuthFailed
		}
		m.known = true
		return nil
	}), nil
}

// Mail begins one.
func (m *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if !m.known {
		return smtp.ErrAuthRequired
	}
	m.envelope = "from " + from
	return nil
}

// Rcpt says whom to.
func (m *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	m.envelope += " to " + to + "\n"
	return nil
}

// Data is the mail itself.
func (m *mailSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return errors.New("cut short")
	}
	m.taken <- m.envelope + string(text)
	return nil
}

// Reset forgets what was begun.
func (m *mailSession) Reset() { m.envelope = "" }

// Logout ends the connection.
func (*mailSession) Logout() error { return nil }
