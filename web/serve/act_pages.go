package serve

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/act"
	"github.com/sandkeeper/sandkeeper/web/api"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// upFromActs is the way from the page of an act up to the first one.
const upFromActs = "../"

// forms are where people ask for something.
type forms struct {
	answers
	Acts      Acts
	asker     *asker
	proposals *proposals
}

// formed shows a page with a form: its own origin has to be told with what it sends, which the policy of the other
// pages keeps from everybody.
func (s *forms) formed(w http.ResponseWriter, r *http.Request, a answer) {
	w.Header().Set("Referrer-Policy", "same-origin")
	s.html(w, r.WithContext(ui.LookedAtBy(r.Context(), s.asker.standing(r).looker)), a)
}

// confirm shows what an act would do, and the form that asks for it. Who may not sees why not.
func (s *forms) confirm(w http.ResponseWriter, r *http.Request) {
	v, known := api.VerbNamed(r.PathValue("verb"))
	if !known {
		s.missing(w, r)
		return
	}
	a := actOf(r.URL.Query())
	s.confirmed(w, r, http.StatusOK, act.Confirmation{Verb: v, Act: a})
}

// confirmed shows the confirmation as it is now.
func (s *forms) confirmed(w http.ResponseWriter, r *http.Request, status int, c act.Confirmation) {
	ctx, cancel := context.WithTimeout(r.Context(), readWithin)
	defer cancel()
	c.Barred, c.Up = s.asker.standing(r).barred, upFromActs
	if c.Act.Target != "" || c.Verb.Optional || c.Verb.Target == "" {
		c.Shown, c.Preview = s.previewed(ctx, &c)
	}
	c.Login = c.Barred == "" && callerOf(r).by != bySession
	back := url.URL{Path: "/act/" + c.Verb.Name}
	if c.Act.Target != "" {
		q := url.Values{"target": {c.Act.Target}}
		if c.Act.Reason != "" {
			q.Set("reason", c.Act.Reason)
		}
		back.RawQuery = q.Encode()
	}
	c.LoginAt = "/session?" + url.Values{"to": {back.String()}}.Encode()
	s.formed(w, r, answer{status, act.Confirm(&c)})
}

func (s *forms) previewed(ctx context.Context, c *act.Confirmation) (bool, api.Preview) {
	p, err := s.Acts.Preview(ctx, c.Verb.Name, c.Act)
	var refused *api.Refusal
	switch {
	case errors.As(err, &refused):
		c.Problem = reconcile.FirstOf(c.Problem, refused.Why)
	case err != nil:
		s.Log.WarnContext(ctx, "act not previewed", "err", err)
		c.Problem = reconcile.FirstOf(c.Problem, errLedger.Error())
	}
	return err == nil, p
}

// actOf reads an act from a form or an address. A target goes by several names, as links have it.
func actOf(q url.Values) api.Act {
	target := reconcile.FirstOf(q.Get("target"), q.Get("subject"), q.Get("what"), q.Get("rule"), q.Get("sandbox"))
	if q.Get("provider") != "" && q.Get("sandbox") != "" {
		target = q.Get("provider") + "/" + q.Get("sandbox")
	}
	a := api.Act{Target: text.Line(target), Reason: q.Get("reason"), Mode: q.Get("mode"), Hash: q.Get("hash"),
		IncludeRunning: q.Get("include_running") == "true"}
	a.Count, _ = strconv.Atoi(q.Get("count"))
	return a
}

// perform has what the form asks for recorded.
func (s *forms) perform(w http.ResponseWriter, r *http.Request) {
	v, known := api.VerbNamed(r.PathValue("verb"))
	if !known {
		s.missing(w, r)
		return
	}
	if err := r.ParseForm(); err != nil {
		s.confirmed(w, r, http.StatusBadRequest, act.Confirmation{Verb: v, Problem: "The form did not arrive whole."})
		return
	}
	a := actOf(r.PostForm)
	c := act.Confirmation{Verb: v, Act: a}
	if why := s.formWrong(r, &c); why != "" {
		c.Problem = why
		s.confirmed(w, r, http.StatusForbidden, c)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readWithin)
	defer cancel()
	done, err := s.asker.ask(ctx, r, v.Name, c.Act)
	var asked *wrongRequest
	var refused *api.Refusal
	switch {
	case errors.As(err, &asked):
		c.Problem = asked.why
		s.confirmed(w, r, asked.status, c)
	case errors.As(err, &refused):
		c.Problem = refused.Why
		s.confirmed(w, r, refused.Status, c)
	case err != nil:
		s.Log.WarnContext(ctx, "act not recorded", "act", v.Name, "err", err)
		c.Problem = "Nothing is known to be recorded: " + errLedger.Error() + "."
		s.confirmed(w, r, http.StatusServiceUnavailable, c)
	default:
		s.proposals.confirmed(v.Name, a.Target)
		s.formed(w, r, answer{http.StatusOK, act.Performed(upFromActs, v, done)})
	}
}

// formWrong is why a form does not count: a time that is none, a list that was not shown, or, where it ends something,
// no password of who asks. A wrong one ends the session.
func (s *forms) formWrong(r *http.Request, c *act.Confirmation) string {
	if span := r.PostForm.Get("for"); span != "" {
		d, ok := text.ParseDuration(span)
		if !ok || d <= 0 {
			return "The time is none: write it like 30m, 4h or 2d."
		}
		c.Act.For = int64(d / time.Second)
	}
	if c.Verb.Lists && c.Act.Hash == "" {
		return "The list was not shown yet: look at it, and confirm it."
	}
	if !c.Verb.Ends {
		return ""
	}
	d := doorOf(r)
	if d == nil {
		return "Nothing can be asked for here."
	}
	if !d.verify(r, callerOf(r).name, r.PostForm.Get("password")) {
		d.sessions.end(r)
		return "The password is wrong, or was not checked in time; the session is over. Log in again."
	}
	return ""
}

// login shows the form that begins a session.
func (s *forms) login(w http.ResponseWriter, r *http.Request) {
	s.formed(w, r, answer{http.StatusOK, act.LogIn(s.loginOf(r, r.URL.Query().Get("to")))})
}

func (s *forms) loginOf(r *http.Request, to string) act.Login {
	c, is := callerOf(r), s.asker.standing(r)
	return act.Login{User: c.name, Says: is.looker.Says, Barred: is.barred, In: c.by == bySession, To: local(to)}
}

// local is an address of this site, the page where it is none: nobody is sent elsewhere from here.
func local(to string) string {
	if !strings.HasPrefix(to, "/act/") || strings.ContainsAny(to, "\\\r\n") || text.Line(to) != to {
		return "/"
	}
	return to
}

// begin begins a session for who gives his password.
func (s *forms) begin(w http.ResponseWriter, r *http.Request) {
	l := s.loginOf(r, "")
	if err := r.ParseForm(); err == nil {
		l.To = local(r.PostForm.Get("to"))
	}
	if l.Barred != "" {
		l.Problem = l.Barred
		s.formed(w, r, answer{http.StatusForbidden, act.LogIn(l)})
		return
	}
	d, name := doorOf(r), callerOf(r).name
	if !d.verify(r, name, r.PostForm.Get("password")) {
		l.Problem = "The password is wrong, or was not checked in time."
		s.formed(w, r, answer{http.StatusForbidden, act.LogIn(l)})
		return
	}
	d.sessions.end(r) // one is enough
	http.SetCookie(w, d.sessions.begin(name, d.users[name], time.Now()))
	s.Log.InfoContext(r.Context(), "logged in to act", "user", name, "from", r.RemoteAddr)
	sendOn(w, "."+l.To)
}

// leave ends a session.
func (s *forms) leave(w http.ResponseWriter, r *http.Request) {
	if d := doorOf(r); d != nil {
		d.sessions.end(r)
	}
	http.SetCookie(w, cookie(""))
	sendOn(w, "../")
}

// sendOn sends a browser to another page of this site, whose address is relative: it may lie below a path.
func sendOn(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}
