package serve

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// cursor is where the next part begins, as programs hand it back; "" after the last one.
func cursor(c reconcile.Cursor) string {
	if c == (reconcile.Cursor{}) {
		return ""
	}
	at := "" // zero
	if !c.At.IsZero() {
		at = strconv.FormatInt(c.At.UnixMicro(), 10)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(at + " " + url.QueryEscape(c.Word) + " " + c.Key))
}

func parseCursor(given string) (reconcile.Cursor, error) {
	var c reconcile.Cursor
	if given == "" {
		return c, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(given)
	fields := strings.SplitN(string(raw), " ", 3)
	if err != nil || len(fields) < 3 {
		return c, wrong("the cursor is none that was given out; ask without one")
	}
	at := fields[0]
	c.Key = fields[2]
	if c.Word, err = url.QueryUnescape(fields[1]); err != nil || !text.Storable(c.Key) || !text.Storable(c.Word) {
		return reconcile.Cursor{}, wrong("the cursor is none that was given out; ask without one")
	}
	if at != "" {
		micro, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return c, wrong("the cursor is none that was given out; ask without one")
		}
		c.At = time.UnixMicro(micro)
	}
	return c, nil
}

// numbered refuses a cursor whose key is no number, where the ledger counts its rows.
func numbered(c reconcile.Cursor) error {
	if _, err := strconv.ParseInt(c.Key, 10, 64); c.Key != "" && err != nil {
		return wrong("the cursor is none that was given out for this; ask without one")
	}
	return nil
}
