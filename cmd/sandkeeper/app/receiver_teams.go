package app

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// teamsWorkflow is how the address of a workflow of Teams begins. The connectors that shoutrrr's teams:// posts
// to are retired.
const teamsWorkflow = "teams+"

// A card is what a workflow of Teams takes: a message with an Adaptive Card. Foreign texts stand in text runs, in which
// nothing is a link and nothing is bold.
type card struct {
	Type        string           `json:"type"`
	Attachments []cardAttachment `json:"attachments"`
}

type cardAttachment struct {
	ContentType string      `json:"contentType"`
	Content     cardContent `json:"content"`
}

type cardContent struct {
	Schema  string       `json:"$schema"`
	Type    string       `json:"type"`
	Version string       `json:"version"`
	Body    []cardBlock  `json:"body"`
	Actions []cardAction `json:"actions,omitempty"`
}

type cardBlock struct {
	Type    string    `json:"type"`
	Inlines []cardRun `json:"inlines"`
}

type cardRun struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Weight string `json:"weight,omitempty"`
}

type cardAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

func (r Receiver) card(alarms []reconcile.Alarm) card {
	title, lines := r.lines(alarms)
	block := func(text, weight string) cardBlock {
		return cardBlock{Type: "RichTextBlock", Inlines: []cardRun{{Type: "TextRun", Text: text, Weight: weight}}}
	}
	content := cardContent{Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard",
		Version: "1.2", Body: []cardBlock{block(title, "bolder")}}
	for _, line := range lines {
		content.Body = append(content.Body, block(line, ""))
	}
	if r.Page != "" {
		content.Actions = []cardAction{{Type: "Action.OpenUrl", Title: "Open the page", URL: r.Page}}
	}
	return card{Type: "message", Attachments: []cardAttachment{
		{ContentType: "application/vnd.microsoft.card.adaptive", Content: content}}}
}

// postCard sends a card to a workflow of Teams.
func (r Receiver) postCard(ctx context.Context, alarms []reconcile.Alarm) error {
	body, err := json.Marshal(r.card(alarms))
	if err != nil {
		return err
	}
	return r.postTo(ctx, strings.TrimPrefix(r.URL.Reveal(), teamsWorkflow), "application/json", body)
}
