package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/serve"
)

// signed is who asks, and for --anyway also who said yes to it: where the config names two operators or more, another
// one of them, by his password of the page. He is shown what it is about.
func (d *demand) signed(o *app.Options, c *config.Config, shown string) (reconcile.Attribution, error) {
	by := d.Signed()
	switch {
	case !d.Anyway && d.second != "":
		return by, verb.Misused(errors.New("--second says yes to --anyway, which is not asked for"))
	case d.second == "" && d.Anyway && c.Web.TwoOperators():
		return by, verb.Misused(fmt.Errorf("nothing was recorded: --anyway takes two operators, where web.operators names "+
			"several (%s): have another one say yes with --second NAME", strings.Join(c.Web.Operators, ", ")))
	case d.second == "":
		return by, nil
	case !slices.Contains(c.Web.Operators, d.second):
		return by, verb.Misused(fmt.Errorf("--second: web.operators does not name %s", d.second))
	}
	author, err := reconcile.WithSecond(by.Author, d.second)
	if err != nil {
		return by, verb.Misused(fmt.Errorf("--second: %w: one asks (--author), another one says yes", err))
	}
	password, err := d.password(o, shown)
	if err != nil {
		return by, err
	}
	if err := serve.CheckPassword(c.Web.ConfigFile, d.second, password); err != nil {
		return by, fmt.Errorf("nothing was recorded: %s did not say yes: %w", d.second, err)
	}
	by.Author = author
	return by, nil
}

// password is what the second operator types, or what the file has.
func (d *demand) password(o *app.Options, shown string) (string, error) {
	if d.passwordFile != "" {
		text, err := os.ReadFile(d.passwordFile)
		if err != nil {
			return "", fmt.Errorf("read the second operator's password: %w", err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", verb.Misused(errors.New("--second: there is no terminal to type the password at; " +
			"give --second-password-file"))
	}
	fmt.Fprintf(o.Err, "%sthe password of %s, who says yes to this: ", shown, d.second)
	typed, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(o.Err)
	if err != nil {
		return "", fmt.Errorf("read the second operator's password: %w", err)
	}
	return string(typed), nil
}
