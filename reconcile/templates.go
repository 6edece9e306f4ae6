package reconcile

import "strings"

// TemplateSubject is the subject that a template is.
func TemplateSubject(provider, name string) string { return "template:" + provider + "/" + name }

// TemplateOf is the name of the template that a subject is about; "" when it is about none.
func TemplateOf(subject, provider string) string {
	name, ok := strings.CutPrefix(subject, TemplateSubject(provider, ""))
	if !ok {
		return ""
	}
	return name
}
