package app

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app/webhooktest"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func receiverAt(address string) Receiver {
	return Receiver{NotifyConfig: config.NotifyConfig{URL: config.NewSecret(address), Name: "people"}, Installation: "prod",
		Page: "https://keeper.example/", now: func() time.Time { return time.Unix(1769936400, 0) }}
}

// someAlarms are one that is wrong and one that is over.
func someAlarms() []reconcile.Alarm {
	return []reconcile.Alarm{
		{Key: "breaker:orphan", Kind: "breaker", Severity: reconcile.SeverityCritical, Title: "The breaker of orphan is open",
			Text: "All of it is held.", Version: "1", Since: time.Unix(1769936000, 0)},
		{Key: "freeze:tasks", Kind: "freeze", Severity: reconcile.SeverityWarning, Title: "tasks is not trusted"},
	}
}

// TestTellsAWebhook: a CloudEvent, signed as notices to the platform are.
func TestTellsAWebhook(t *testing.T) {
	hook := webhooktest.NewReceiver(t)
	r := receiverAt(hook.URL + "/hooks/tok-in-path")
	r.Secret = config.NewSecret(webhooktest.Key)
	if err := r.Tell(t.Context(), someAlarms()); err != nil {
		t.Fatal(err)
	}
	told := hook.Told()
	if len(told) != 1 || !told[0].Verify(webhooktest.Key) {
		t.Fatalf("told %+v, want one that is signed", told)
	}
	var got struct {
		SpecVersion, ID, Source, Type string
		Data                          struct {
			Alerts []struct{ Key, Status, Severity, Title string }
		}
	}
	if err := json.Unmarshal([]byte(told[0].Body), &got); err != nil {
		t.Fatal(err)
	}
	if got.SpecVersion != "1.0" || got.ID == "" || got.Source != "/sandkeeper/prod" || got.Type != eventType ||
		len(got.Data.Alerts) != 2 || got.Data.Alerts[0].Status != "firing" || got.Data.Alerts[1].Status != "resolved" {
		t.Errorf("event %s", told[0].Body)
	}
}

// TestNoErrorShowsAnAddress, of a webhook and of what the library makes of an address.
func TestNoErrorShowsAnAddress(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such hook: "+r.URL.String(), http.StatusForbidden)
	}))
	t.Cleanup(refuses.Close)
	host := strings.TrimPrefix(refuses.URL, "http://")
	for _, address := range []string{
		refuses.URL + "/hooks/s3cretToken?key=s3cretKey9",
		"http://user:s3cretToken@127.0.0.1:1/s3cretKey9",
		"generic://" + host + "/s3cretToken/s3cretKey9?disabletls=yes",
		"ntfy://s3cretKey9:s3cretToken@127.0.0.1:1/topics3cret?scheme=http",
		"slack://hook:s3cretToken-s3cretKey9-x@nowhere",
		"smtp://user:s3cretToken@127.0.0.1:1/?from=s3cretKey9@x.example&to=b@x.example",
		"nonsense://s3cretToken/s3cretKey9",
	} {
		err := receiverAt(address).Tell(t.Context(), someAlarms())
		if err == nil {
			t.Errorf("%s: no error", address)
			continue
		}
		for _, secret := range []string{"s3cretToken", "s3cretKey9", "s3cret"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error shows %s: %v", address, secret, err)
			}
		}
		if !strings.Contains(err.Error(), "notify people: ") {
			t.Errorf("%s: the error does not say who was to be told: %v", address, err)
		}
	}
}

// TestTellsPagerDuty: an incident of its own for each, which its end closes; by the library's own code, over HTTP.
func TestTellsPagerDuty(t *testing.T) {
	var got []map[string]any
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event map[string]any
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		got = append(got, event)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	address, err := url.Parse("pagerduty://" + server.Listener.Addr().String() + "/" + strings.Repeat("ab", 16))
	if err != nil {
		t.Fatal(err)
	}
	var service pagerduty.Service
	if err := service.Initialize(address, nil); err != nil {
		t.Fatal(err)
	}
	service.SetHTTPClient(server.Client())
	for _, m := range receiverAt(address.String()).messages(someAlarms()) {
		if err := service.Send(m.body, &m.params); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 2 || got[0]["event_action"] != "trigger" || got[0]["dedup_key"] != "prod/breaker:orphan" ||
		got[1]["event_action"] != "resolve" || got[1]["dedup_key"] != "prod/freeze:tasks" {
		t.Errorf("it was told %v", got)
	}
}

// TestOpsgenieIsToldOfWhatIsWrong: under one alias each time, so that it is one alert.
func TestOpsgenieIsToldOfWhatIsWrong(t *testing.T) {
	out := receiverAt("opsgenie://api.opsgenie.com/key").messages(someAlarms())
	if len(out) != 1 || out[0].params["alias"] != "prod/breaker:orphan" {
		t.Errorf("it would be told %+v", out)
	}
}

// TestTellsByMail, through the library and a real mail server that asks who sends.
func TestTellsByMail(t *testing.T) {
	server, mail := mailServer(t)
	r := receiverAt("smtp://keeper:s3cretToken@" + server + "/?auth=Plain&usestarttls=no&encryption=None&from=keeper@x.example&to=ana@x.example")
	if err := r.Tell(t.Context(), someAlarms()); err != nil {
		t.Fatal(err)
	}
	got := <-mail
	for _, want := range []string{"ana@x.example", "sandkeeper prod: 1 firing, 1 resolved", "CRITICAL: The breaker of orphan is open",
		"RESOLVED: tasks is not trusted", "https://keeper.example/"} {
		if !strings.Contains(got, want) {
			t.Errorf("the mail lacks %q:\n%s", want, got)
		}
	}
	r.URL = config.NewSecret(strings.Replace(r.URL.Reveal(), "s3cretToken", "s3cretWrong", 1))
	if err := r.Tell(t.Context(), someAlarms()); err == nil || strings.Contains(err.Error(), "s3cretWrong") {
		t.Errorf("with a wrong password: %v", err)
	}
}

func TestTellsNtfy(t *testing.T) {
	heard := make(chan string, 1)
	ntfy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		_, _ = bufio.NewReader(r.Body).WriteTo(body)
		heard <- r.URL.Path + " " + r.Header.Get("Title") + " " + body.String()
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(ntfy.Close)
	r := receiverAt("ntfy://" + strings.TrimPrefix(ntfy.URL, "http://") + "/keeper?scheme=http")
	if err := r.Tell(t.Context(), someAlarms()); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; !strings.Contains(got, "/keeper") || !strings.Contains(got, "The breaker of orphan is open") {
		t.Errorf("ntfy heard %s", got)
	}
}

// TestCheckAddress: what check says of an address, which tells nobody and shows no secret.
func TestCheckAddress(t *testing.T) {
	for address, good := range map[string]bool{
		"https://hooks.example/x": true, "teams+https://flow.example/x": true, "ntfy://ntfy.example/topic": true,
		"slack://hook:s3cretToken-s3cretKey9-x@nowhere": false, "nonsense://s3cretToken": false,
	} {
		err := receiverAt(address).CheckAddress()
		if (err == nil) != good {
			t.Errorf("%s: %v, want good: %v", address, err, good)
		}
		if err != nil && (strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "notify people: ")) {
			t.Errorf("%s: the error shows a secret, or not who was to be told: %v", address, err)
		}
	}
}
