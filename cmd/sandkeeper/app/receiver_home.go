package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// errElsewhere is an answer that sends a message on.
var errElsewhere = errors.New("it answered with another address, and messages go to none but their own")

// The library's services follow an answer to wherever it says: with the message, with headers that hold a key, and with
// a token as the referrer. Most have a client that cannot be reached, and all of those go by the usual transport.
func init() {
	if usual, ok := http.DefaultTransport.(*http.Transport); ok {
		stays := usual.Clone()
		stays.Proxy = proxyHome
		http.DefaultTransport = stays
	}
}

// proxyHome is the proxy for a request, and an error for one that an answer has asked for.
func proxyHome(r *http.Request) (*url.URL, error) {
	if r.Response != nil {
		return nil, errElsewhere
	}
	return http.ProxyFromEnvironment(r)
}

// service is what the library tells the receiver by. It sends nothing to another address than its own.
func (r Receiver) service() (types.Service, error) {
	service, err := new(router.ServiceRouter).Locate(r.URL.Reveal())
	if err != nil {
		return nil, fmt.Errorf("its address lacks something, see how shoutrrr writes it: %w", err)
	}
	stay := func(*http.Request, []*http.Request) error { return errElsewhere }
	switch s := service.(type) {
	case *ntfy.Service:
		s.SetHTTPClient(&http.Client{Timeout: tellTime, CheckRedirect: stay, Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: s.Config.DisableTLSVerification}, //nolint:gosec // asked for
		}})
	case interface{ GetHTTPClient() *http.Client }: // with a transport of their own: gotify, mattermost
		s.GetHTTPClient().CheckRedirect = stay
	}
	return service, nil
}
