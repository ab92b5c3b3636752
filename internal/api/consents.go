package api

import (
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// Consent is an entry of the consent ledger. Text is personal data.
type Consent struct {
	Action  models.ConsentAction `json:"action"`
	Method  models.ConsentMethod `json:"method"`
	At      time.Time            `json:"at"`
	Actor   string               `json:"actor" doc:"participant, carrier, or an operator's name."`
	Text    string               `json:"text" doc:"The person's own text; empty where there was none."`
	Channel wire.Channel         `json:"channel,omitempty" doc:"Where the text came from; empty for SMS."`
	Caller  string               `json:"caller,omitempty" doc:"The user or token who brought a text of the chat."`
	TurnID  string               `json:"confirmed_by,omitempty" doc:"The turn that confirmed it."`
}
