package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// tellTime is for one message to one receiver.
const tellTime = 15 * time.Second

// A Receiver is told what is wrong. No error of it names more of the address than its scheme: people put
// credentials into the rest.
type Receiver struct {
	config.NotifyConfig
	Installation, Page string
	now                func() time.Time
	client             *http.Client // of what is posted by ourselves; nil: that of telling
}

// Receivers are those of the config.
func (a *App) Receivers() []Receiver {
	out := make([]Receiver, len(a.Config.Alerts.Notify))
	for i, n := range a.Config.Alerts.Notify {
		out[i] = Receiver{NotifyConfig: n, Installation: a.Config.Installation, Page: a.Config.Web.PublicURL, now: time.Now}
	}
	return out
}

// Tell tells the receiver of all of these in one message.
func (r Receiver) Tell(ctx context.Context, alarms []reconcile.Alarm) error {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	tell := r.send
	switch {
	case r.Webhook():
		tell = r.post
	case strings.HasPrefix(r.URL.Reveal(), teamsWorkflow):
		tell = r.postCard
	}
	if err := tell(ctx, alarms); err != nil {
		return fmt.Errorf("notify %s: %s", r.Called(), r.redacted(err))
	}
	return nil
}

// CheckAddress says what is wrong with the address, without telling anybody anything; nil when it may be told.
func (r Receiver) CheckAddress() error {
	if r.Webhook() || strings.HasPrefix(r.URL.Reveal(), teamsWorkflow) {
		return nil // a URL, as the config was asked for
	}
	if _, err := r.service(); err != nil {
		return fmt.Errorf("notify %s: %s", r.Called(), r.redacted(err))
	}
	return nil
}

// send is for all that shoutrrr knows. It takes no context: a message under way ends at its own time-out.
func (r Receiver) send(ctx context.Context, alarms []reconcile.Alarm) error {
	service, err := r.service()
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() {
		var errs []error
		for _, m := range r.messages(alarms) {
			if ctx.Err() != nil {
				break // it is taken for failed, and all of it is told again
			}
			errs = append(errs, service.Send(m.body, &m.params))
		}
		sent <- errors.Join(errs...)
	}()
	select {
	case <-ctx.Done():
		return fmt.Errorf("no answer within %s", tellTime)
	case err := <-sent:
		return err
	}
}

// An outgoing is a text and what its service takes beside it.
type outgoing struct {
	body   string
	params types.Params
}

// messages are what the service of the address is sent: to people all in one, and to what keeps an incident open until
// it is told of its end one each, under a key of its own. Opsgenie's alerts cannot be closed this way, so it is told
// only of what is wrong.
func (r Receiver) messages(alarms []reconcile.Alarm) (out []outgoing) {
	scheme, _, _ := strings.Cut(r.URL.Reveal(), ":")
	if scheme != "pagerduty" && scheme != "opsgenie" {
		title, body := r.message(alarms)
		return []outgoing{{body, types.Params{"title": title}}}
	}
	for i := range alarms {
		a := &alarms[i]
		// Opsgenie takes 130 letters.
		title, key := text.Clip("sandkeeper "+r.Installation+": "+a.Title, 125), r.Installation+"/"+a.Key
		body := text.Clip(reconcile.Joined(title, a.Text), 1000) // PagerDuty takes 1024 letters
		switch {
		case scheme == "pagerduty":
			action := "trigger"
			if a.Over() {
				action = "resolve"
			}
			out = append(out, outgoing{body, types.Params{"severity": string(a.Severity), "action": action, "dedup_key": key,
				"source": r.Installation, "client": "sandkeeper", "client_url": r.Page}})
		case !a.Over():
			out = append(out, outgoing{body, types.Params{"title": title, "alias": key, "source": r.Installation}})
		}
	}
	return out
}

// message is what a person reads.
func (r Receiver) message(alarms []reconcile.Alarm) (title, body string) {
	title, lines := r.lines(alarms)
	if r.Page != "" {
		lines = append(lines, r.Page)
	}
	return title, title + "\n\n" + strings.Join(lines, "\n\n")
}

// lines are how many are wrong and over, and then each of them.
func (r Receiver) lines(alarms []reconcile.Alarm) (title string, lines []string) {
	wrong, over := 0, 0
	for i := range alarms {
		a := &alarms[i]
		if a.Over() {
			over++
			lines = append(lines, "RESOLVED: "+a.Title)
			continue
		}
		wrong++
		lines = append(lines, strings.ToUpper(string(a.Severity))+": "+a.Title+"\n"+a.Text)
	}
	return fmt.Sprintf("sandkeeper %s: %d firing, %d resolved", r.Installation, wrong, over), lines
}

// An event is a message as a CloudEvent in its structured form.
type event struct {
	SpecVersion string    `json:"specversion"`
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype"`
	Data        eventData `json:"data"`
}

type eventData struct {
	Installation string      `json:"installation"`
	Page         string      `json:"page_url,omitempty"`
	Alerts       []wireAlarm `json:"alerts"`
}

type wireAlarm struct {
	Key      string             `json:"key"`
	Kind     string             `json:"kind"`
	Status   string             `json:"status"`
	Severity reconcile.Severity `json:"severity"`
	Title    string             `json:"title"`
	Text     string             `json:"text"`
	Since    time.Time          `json:"since"`
}

// eventType is the type of the CloudEvents.
const eventType = "com.sandkeeper.alerts.v1"

func (r Receiver) event(alarms []reconcile.Alarm) event {
	e := event{SpecVersion: "1.0", ID: rand.Text(), Source: "/sandkeeper/" + r.Installation, Type: eventType,
		Time: r.now().UTC(), ContentType: "application/json", Data: eventData{Installation: r.Installation, Page: r.Page}}
	for i := range alarms {
		a := &alarms[i]
		status := "firing"
		if a.Over() {
			status = "resolved"
		}
		e.Data.Alerts = append(e.Data.Alerts, wireAlarm{Key: a.Key, Kind: a.Kind, Status: status, Severity: a.Severity,
			Title: a.Title, Text: a.Text, Since: a.Since.UTC()})
	}
	return e
}

// post sends a CloudEvent, signed as notices to the platform are where there is a key.
func (r Receiver) post(ctx context.Context, alarms []reconcile.Alarm) error {
	body, err := json.Marshal(r.event(alarms))
	if err != nil {
		return err
	}
	return r.postTo(ctx, r.URL.Reveal(), "application/cloudevents+json", body)
}

func (r Receiver) postTo(ctx context.Context, address, contentType string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	sign(request, r.Secret, r.now(), body)
	request.Header.Set("Content-Type", contentType)
	answer, err := cmp.Or(r.client, tellingClient()).Do(request)
	if err != nil {
		return err
	}
	return accepted(answer)
}

// signed is the signature of a body that is sent at a time.
func signed(key config.Secret, at string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(at))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// tellingClient makes no second request: where else a message goes is not for the answer to say.
func tellingClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// wordOf are the parts of an address that may be a secret, or a piece of one.
var wordOf = regexp.MustCompile(`[A-Za-z0-9]{4,}`)

// redacted is an error without any part of the address. Libraries quote addresses, whole or in pieces, also
// with the key turned into a header or another host's path.
func (r Receiver) redacted(err error) string {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err
	}
	said := err.Error()
	_, rest, _ := strings.Cut(r.URL.Reveal(), ":")
	plain, bad := url.QueryUnescape(rest)
	if bad != nil {
		plain = rest
	}
	words := append(wordOf.FindAllString(rest, -1), wordOf.FindAllString(plain, -1)...)
	words = append(words, rest, plain, r.Secret.Reveal())
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, word := range words {
		if word != "" {
			said = strings.ReplaceAll(said, word, "***")
		}
	}
	return text.Plain(said, 300)
}
