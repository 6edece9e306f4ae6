package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A receiver that answers with another address is not followed there, by whichever service it is told: neither the
// message nor a key gets to a host that nobody gave.
func TestReceiversSendNothingOn(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere.Add(1)
		_, _ = w.Write([]byte("{}"))
	}))
	defer other.Close()
	var asked atomic.Int32
	code := http.StatusTemporaryRedirect
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/steal", code)
	}))
	defer receiver.Close()
	host := strings.TrimPrefix(receiver.URL, "http://")
	for _, code = range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		for _, address := range []string{
			"http://" + host + "/hook",
			"ntfy://user:secretword@" + host + "/topic?scheme=http",
			"ntfy://" + host + "/topic?scheme=http&disabletlsverification=yes",
			"gotify://" + host + "/AzyoeNS.D4iJLVa/?disabletls=yes",
			"mattermost://" + host + "/tokentokentoken/channel?disabletls=yes",
			"generic://" + host + "/p?disabletls=yes&@X-Api-Key=secretkey9",
			"matrix://user:secretword@" + host + "/?rooms=!room:here&disabletls=yes",
			"signal://" + host + "/+491701234567/+491701234568?disabletls=yes",
			"bark://:secretword@" + host + "/?scheme=http",
		} {
			asked.Store(0)
			r := receiverAt(address)
			err := r.Tell(t.Context(), []reconcile.Alarm{{Key: "k", Title: "wrong", Text: "all of it"}})
			if err == nil || asked.Load() == 0 || elsewhere.Load() > 0 {
				t.Errorf("Tell %s with a %d = %v after %d calls, and %d elsewhere; want an error and none elsewhere",
					address, code, err, asked.Load(), elsewhere.Swap(0))
			}
		}
	}
}
