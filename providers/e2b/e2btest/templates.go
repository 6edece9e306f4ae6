package e2btest

import (
	"errors"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// buildWords are the vendor's words for how a template's build is. A template that nobody
// uses stays as it is.
var buildWords = map[reconcile.TemplateState]string{
	reconcile.TemplateActive:   "ready",
	reconcile.TemplateInactive: "ready",
	reconcile.TemplateBuilding: "building",
	reconcile.TemplateFailed:   "error",
}

// tagged is a template by name or id, with the tag of its default build or of "v1"; nobody
// made others.
func (q *request) tagged(name string) (simulated.Template, error) {
	name, tag, _ := strings.Cut(name, ":")
	_, bare, owned := strings.Cut(name, "/")
	if owned {
		name = bare
	}
	t, err := q.world.TemplateOf(name)
	if err == nil && tag != "" && tag != "default" && tag != "v1" {
		err = errTag
	}
	return t, err
}

var errTag = errors.New("no such tag")

// ofTemplate tells the look-up of an alias from the tags of a template, whose addresses
// have the same form.
func (s *Server) ofTemplate(q *request) {
	switch id, of := q.PathValue("id"), q.PathValue("of"); {
	case id == "aliases":
		s.alias(q, of)
	case of == "tags":
		s.tags(q)
	default:
		q.fail(http.StatusNotFound, "no matching operation was found")
	}
}

// alias takes a name, a name with its team before it, an id, and each with a tag behind it.
func (s *Server) alias(q *request, asked string) {
	t, err := q.tagged(asked)
	name, tag, _ := strings.Cut(asked, ":")
	switch {
	case errors.Is(err, errTag):
		q.fail(http.StatusNotFound, "tag '"+tag+"' does not exist for template '"+name+"'")
	case err != nil:
		q.fail(http.StatusNotFound, "Template alias '"+name+"' not found")
	case t.General:
		q.fail(http.StatusForbidden, "You don't have access to template alias '"+name+"'")
	default:
		q.json(http.StatusOK, object{"templateID": t.ID, "public": false})
	}
}

// builds are those of a template, the newest first: one that is being tried out, and the
// one that its tags name.
func builds(t simulated.Template) []object {
	word := t.Raw
	if word == "" {
		word = buildWords[t.State]
	}
	build := func(id, status string) object {
		return object{"buildID": id, "status": status, "createdAt": stamp(t.CreatedAt), "updatedAt": stamp(t.CreatedAt),
			"cpuCount": 2, "memoryMB": 512}
	}
	return []object{build("b-next-"+t.ID, "waiting"), build("b-"+t.ID, word)}
}

func (s *Server) template(q *request) {
	t, err := q.world.TemplateOf(q.PathValue("id"))
	if err != nil || t.General || t.ID != q.PathValue("id") {
		q.fail(http.StatusNotFound, "Template '"+q.PathValue("id")+"' not found")
		return
	}
	dto := described(t)
	dto["builds"] = builds(t)
	q.json(http.StatusOK, dto)
}

func described(t simulated.Template) object {
	dto := object{"templateID": t.ID, "public": false, "aliases": []string{t.Name}, "names": []string{"lab/" + t.Name},
		"createdAt": stamp(t.CreatedAt), "updatedAt": stamp(t.CreatedAt), "lastSpawnedAt": nil, "spawnCount": 1}
	if !t.LastUsedAt.IsZero() {
		dto["lastSpawnedAt"] = stamp(t.LastUsedAt)
	}
	return dto
}

func (s *Server) templates(q *request) {
	out := []object{}
	for _, t := range q.world.Templates() {
		if !t.General {
			out = append(out, described(t))
		}
	}
	q.json(http.StatusOK, out)
}

func (s *Server) tags(q *request) {
	t, err := q.world.TemplateOf(q.PathValue("id"))
	if err != nil || t.General {
		q.fail(http.StatusNotFound, "Template '"+q.PathValue("id")+"' not found")
		return
	}
	out := []object{}
	for _, tag := range []string{"default", "v1"} {
		out = append(out, object{"tag": tag, "buildID": "b-" + t.ID, "createdAt": stamp(t.CreatedAt)})
	}
	q.json(http.StatusOK, out)
}
