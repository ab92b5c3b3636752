package rig

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// bareState is all that the bare workflow carries along.
type bareState struct {
	Phone   string
	Greeted bool
}

type bareText struct {
	Body string
	// PromptAt sets the one prompt; zero sets none.
	PromptAt time.Time
}

const bareActivityLimit = 75 * time.Second

// bareWorkflow answers texts one by one, and one prompt at an instant.
func bareWorkflow(ctx workflow.Context, state bareState) error {
	texts := workflow.GetSignalChannel(ctx, bareSignal)
	if !state.Greeted {
		state.Greeted = true
		if err := bareTurn(ctx, state.Phone, ""); err != nil {
			return err
		}
	}
	var due workflow.Future
	for {
		if due == nil && texts.Len() == 0 && workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, bareType, state)
		}
		var text bareText
		next := workflow.NewSelector(ctx)
		next.AddReceive(texts, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, &text) })
		if due != nil {
			next.AddFuture(due, func(workflow.Future) { due = nil })
		}
		next.Select(ctx)
		if !text.PromptAt.IsZero() {
			due = workflow.NewTimer(ctx, text.PromptAt.Sub(workflow.Now(ctx)))
		}
		if err := bareTurn(ctx, state.Phone, text.Body); err != nil {
			return err
		}
	}
}

func bareTurn(ctx workflow.Context, phone, body string) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: bareActivityLimit})
	var acts *bareActs
	var text string
	if err := workflow.ExecuteActivity(ctx, acts.CallModel, body).Get(ctx, &text); err != nil {
		return err
	}
	return workflow.ExecuteActivity(ctx, acts.Send, bareSend{Phone: phone, Body: text}).Get(ctx, nil)
}
