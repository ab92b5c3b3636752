package rig

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// The names of the bare workflow's world.
const (
	bareType   = "Bare"
	bareSignal = "text"
	bareQueue  = "bare"
)

// The product's worker options, so that both sides poll alike.
const (
	workflowPollers = 10
	stickyTimeout   = 2 * time.Second
	drainTimeout    = 10 * time.Second
)

// Bare is the least that the engine can do for the product's job: a signal, an
// activity that calls the model, an activity that posts to the carrier. It has
// no database, no encryption, no dedupe and no rules.
type Bare struct {
	temporal client.Client
	acts     *bareActs
	slope    Slope
	worker   sdk.Worker
}

func newBare(at environment, slope Slope, c client.Client) *Bare {
	return &Bare{temporal: c, slope: slope, acts: &bareActs{outside: at.outside, phones: newPhones()}}
}

// Start runs one worker for workflows and activities. The server hands an
// activity of the workflow's own queue out with the workflow task (eager
// execution), which is the fastest that the engine does.
func (b *Bare) Start(ctx context.Context) error {
	began := time.Now()
	var err error
	runLabelled(ctx, "bare", func(context.Context) { err = b.start() })
	if err != nil {
		return err
	}
	return pollUntil(ctx, func(ctx context.Context) bool { return isPolled(ctx, b.temporal, bareQueue, began) })
}

func (b *Bare) start() error {
	life := sdk.New(b.temporal, bareQueue, sdk.Options{
		WorkflowTaskPollerBehavior:   sdk.NewPollerBehaviorSimpleMaximum(sdk.PollerBehaviorSimpleMaximumOptions{MaximumNumberOfPollers: workflowPollers}),
		StickyScheduleToStartTimeout: stickyTimeout,
		WorkerStopTimeout:            drainTimeout,
	})
	life.RegisterWorkflowWithOptions(bareWorkflow, workflow.RegisterOptions{Name: bareType})
	life.RegisterActivity(b.acts.CallModel)
	life.RegisterActivity(b.acts.Send)
	if err := life.Start(); err != nil {
		return fmt.Errorf("starting the bare worker: %w", err)
	}
	b.worker = life
	return nil
}

// Stop drains; calling it again does nothing.
func (b *Bare) Stop() error {
	if b.worker != nil {
		b.worker.Stop()
		b.worker = nil
	}
	return nil
}

// Name is how figures call this side.
func (b *Bare) Name() string { return "bare, eager" }

// Enrol starts the workflow of a phone, which greets.
func (b *Bare) Enrol(ctx context.Context, phone string) error {
	_, err := b.temporal.ExecuteWorkflow(ctx, b.options(phone), bareType, bareState{Phone: phone})
	if err != nil {
		return fmt.Errorf("starting the bare workflow: %w", err)
	}
	return nil
}

// Text signals, and returns when the server has the text.
func (b *Bare) Text(ctx context.Context, phone, body string) error {
	_, err := b.temporal.SignalWithStartWorkflow(ctx, b.WorkflowID(phone), bareSignal,
		bareText{Body: body, PromptAt: b.slope.promptAt(phone, body, time.Now().UTC())}, b.options(phone), bareType, bareState{Phone: phone})
	if err != nil {
		return fmt.Errorf("signalling the bare workflow: %w", err)
	}
	return nil
}

// WorkflowID is the workflow of a phone.
func (b *Bare) WorkflowID(phone string) string { return "bare-" + strings.TrimPrefix(phone, "+") }

func (b *Bare) options(phone string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{ID: b.WorkflowID(phone), TaskQueue: bareQueue}
}

var clockIn = regexp.MustCompile(`\bdaily at (\d\d:\d\d)\b`)

// promptAt is when the prompt goes out that a text asks for: before the next
// instant of its clock time, in UTC; zero for other texts.
func (s Slope) promptAt(phone, body string, now time.Time) time.Time {
	found := clockIn.FindStringSubmatch(body)
	if found == nil {
		return time.Time{}
	}
	clock, err := time.Parse("15:04", found[1])
	if err != nil {
		return time.Time{}
	}
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, time.UTC)
	if at.Before(now) {
		at = at.AddDate(0, 0, 1)
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(phone)) // never fails
	return at.Add(-s.Ahead + time.Duration(hash.Sum64()%uint64(max(s.Spread, 1))))
}

// bareActs are the two activities.
type bareActs struct {
	outside string
	phones  *phones
}

// CallModel asks once and returns the text of the answer.
func (a *bareActs) CallModel(ctx context.Context, body string) (string, error) {
	var out struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	err := a.phones.send(ctx, a.outside+"/v1/chat/completions",
		map[string]any{"model": "bench", "messages": []any{map[string]string{"role": "user", "content": body}}}, &out)
	if err != nil {
		return "", err
	}
	if len(out.Choices) == 0 {
		return "", fmt.Errorf("the model gave no choice")
	}
	return out.Choices[0].Message.Content, nil
}

type bareSend struct{ Phone, Body string }

// Send posts one text.
func (a *bareActs) Send(ctx context.Context, in bareSend) error {
	form := url.Values{"To": {in.Phone}, "From": {ourNumber}, "Body": {in.Body}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		a.outside+"/2010-04-01/Accounts/"+accountSID+"/Messages.json", strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("building a send: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(accountSID, authToken)
	return a.phones.do(req)
}
