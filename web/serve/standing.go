package serve

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// A standing is what who asks may do on the pages.
type standing struct {
	barred string // why he may not act by a form, and what changes that; "" when he may once he has logged in
	looker ui.Looker
}

// standing says what who asks may do. What is refused in the end [route.refusal] says; this is so that nobody finds it
// out by trying.
func (s *asker) standing(r *http.Request) standing {
	c, d := callerOf(r), doorOf(r)
	name := text.Plain(c.name, 60)
	is := standing{looker: ui.Looker{User: name, Word: c.role.String()}}
	as := "You are signed in as " + name + ", " + withArticle(is.looker.Word) + ". "
	if c.name == "" {
		is.looker.Word, as = "only to read", ""
	}
	bar := func(short, why, who string) standing {
		is.barred, is.looker.Barred, is.looker.Says = why, short, strings.TrimSpace(as+why+" "+who)
		return is
	}
	switch {
	case s.Acts == nil || d == nil:
		return bar("not here", "Nothing can be asked for here.", "")
	case c.name == "" && len(d.users) == 0:
		return bar("nobody may: no users are set", "Nobody acts without a name: add users to web.config_file.", "")
	case c.name == "":
		return bar("nobody acts without a name", "Nobody acts without a name: add users to web.config_file.", d.who())
	case c.role != roleOperator:
		return bar("operators only", "Operators only: add the user "+name+" to web.operators.", d.who())
	case r.TLS == nil:
		return bar("not over plain HTTP", "Nobody acts on a page that came over plain HTTP: add tls_server_config to "+
			"web.config_file.", "")
	case d.users[c.name] == "":
		return bar("not without a password", "Whom a proxy or a token let in acts by no form: log in with a password of "+
			"web.config_file, or use a token that acts.", "")
	case c.by == bySession:
		is.looker.Says = as + "You are logged in to act. " + d.who()
	default:
		is.looker.Says = as + "You log in once more before the first act. " + d.who()
	}
	return is
}

func withArticle(word string) string {
	if strings.HasPrefix(word, "o") {
		return "an " + word
	}
	return "a " + word
}

// who says who may act.
func (d *door) who() string {
	const most = 5
	if len(d.operators) == 0 {
		return "Nobody may act: web.operators names nobody."
	}
	var names []string
	for _, name := range d.operators[:min(len(d.operators), most)] {
		names = append(names, text.Plain(name, 60))
	}
	if more := len(d.operators) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "Who may act: " + strings.Join(names, ", ") + "."
}
