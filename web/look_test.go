package web

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
)

// TestLook serves worlds for somebody to look at them: WEB_LOOK=127.0.0.1:9999 go test -run Look
func TestLook(t *testing.T) {
	address := os.Getenv("WEB_LOOK")
	if address == "" {
		return
	}
	mux := http.NewServeMux()
	for name, r := range worlds() {
		o := options()
		o.Ledger = fixed{r}
		h := New(o)
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, h))
		fmt.Println("/" + name + "/")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = http.Serve(l, mux)
}
