package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

// relearn is how long a worker believes what it knows of the chat model before
// it reads the record again: another worker may have learnt more.
const relearn = time.Minute

// Server says what a model server knows of its models.
type Server interface {
	Describe(ctx context.Context, model string) (models.ModelFacts, error)
}

// Capability returns what is known of the chat model: by setting, by what its server
// says, by what was learnt of it, by its name.
func (a *Agent) Capability(ctx context.Context) models.Capability {
	return a.known.Read(a.Now(), relearn, func() models.Capability {
		from := toolcall.Sources{Size: a.Settings.ModelSize, Protocol: a.Settings.Protocol, ContextTokens: a.Settings.ContextTokens, AnswerTokens: a.Settings.AnswerTokens}
		// What cannot be read now leaves the name, which is guide enough.
		if stored, err := a.Journal.Capability(ctx, a.Settings.ChatModel, a.Settings.Endpoint); err == nil {
			from.Stored = stored
		}
		if a.Server != nil {
			if facts, err := a.Server.Describe(ctx, a.Settings.ChatModel); err == nil {
				from.Server = facts
			}
		}
		return toolcall.Known(a.Settings.ChatModel, from)
	})
}

// keepCapability changes what is known of the chat model and stores it.
func (a *Agent) keepCapability(ctx context.Context, tr *trace, change func(models.Capability) models.Capability) models.Capability {
	now := a.Now().UTC()
	learnt := a.known.Change(now, func(c models.Capability) models.Capability {
		c = change(c)
		c.Model, c.Endpoint, c.LearntAt = a.Settings.ChatModel, a.Settings.Endpoint, now
		return c
	})
	if err := a.Journal.SaveCapability(ctx, learnt); err != nil {
		tr.note(models.StageModel, "model capability not kept")
	}
	return learnt
}

// learnNoTools records that the endpoint does not take tools. It returns false
// when that was known and nothing changed.
func (a *Agent) learnNoTools(ctx context.Context, tr *trace, c models.Capability) (models.Capability, bool) {
	if _, ok := toolcall.Refused(c); !ok {
		return c, false
	}
	return a.keepCapability(ctx, tr, func(c models.Capability) models.Capability {
		learnt, _ := toolcall.Refused(c)
		return learnt
	}), true
}

const (
	// leastContext is the shortest context that is believed.
	leastContext = 512
	// lessContext is what is tried of a request that was too long, where the server
	// does not say how long one may be.
	lessContext = 0.75
)

// learnOverflow records what a refusal for length tells of the model: its context,
// where the server names it, and how long its tokens are. Where that would not have
// shortened the request, less is tried than was sent.
func (r *runningStep) learnOverflow(ctx context.Context, failed *models.ModelError, request models.ChatRequest) {
	sent, err := toolcall.Offer(r.agent.Prompts, r.turn.capability, request)
	if err != nil {
		sent = request
	}
	learn := func(c models.Capability) models.Capability {
		if named := toolcall.CharactersPerToken(sent, failed.PromptTokens); named > 0 && (c.CharactersPerToken == 0 || named < c.CharactersPerToken) {
			c.CharactersPerToken = named
		}
		bound := failed.ContextTokens
		if c.ContextTokens > 0 && (bound == 0 || bound > c.ContextTokens) {
			bound = c.ContextTokens
		}
		c.ContextTokens = bound
		if tokens := toolcall.Tokens(sent, c.CharactersPerToken) + sent.MaxTokens; bound == 0 || tokens <= bound {
			c.ContextTokens = int(lessContext * float64(tokens))
		}
		c.ContextTokens, c.ContextSource = max(c.ContextTokens, leastContext), models.FromOverflow
		return c
	}
	r.turn.capability = r.agent.keepCapability(ctx, r.trace, func(c models.Capability) models.Capability {
		c.ContextTokens = r.turn.capability.ContextTokens
		return learn(c)
	})
	r.trace.note(models.StageModel, fmt.Sprintf("model overflow, now %d tokens", r.turn.capability.ContextTokens))
}

// measured is how much of a new figure goes into the one before.
const measured = 0.3

// measureAnswer learns from an answer how long the tokens of the model are, and how
// many of them it reads in a second.
func (r *runningStep) measureAnswer(ctx context.Context, sent models.ChatRequest, answer models.ChatResponse, took time.Duration) {
	perToken := toolcall.CharactersPerToken(sent, answer.Usage.Prompt)
	speed := toolcall.TokensPerSecond(answer.Usage, took)
	before := r.turn.capability
	r.turn.capability.CharactersPerToken = blend(before.CharactersPerToken, perToken)
	if perToken > 0 && perToken < before.CharactersPerToken {
		r.turn.capability.CharactersPerToken = perToken // Too long costs more than too short.
	}
	r.turn.capability.TokensPerSecond = blend(before.TokensPerSecond, speed)
	if isNews(before.CharactersPerToken, r.turn.capability.CharactersPerToken) || isNews(before.TokensPerSecond, r.turn.capability.TokensPerSecond) {
		r.agent.keepCapability(ctx, r.trace, func(c models.Capability) models.Capability {
			c.CharactersPerToken, c.TokensPerSecond = r.turn.capability.CharactersPerToken, r.turn.capability.TokensPerSecond
			return c
		})
	}
}

// measureSilence learns from an answer that did not come in time that the model is slower
// than what it was sent; the next attempt then waits for no stage that it can do without.
func (r *runningStep) measureSilence(ctx context.Context, sent models.ChatRequest, cause error, took time.Duration) {
	var failed *models.ModelError
	if !errors.As(cause, &failed) || !failed.TimedOut || took <= 0 {
		return
	}
	most := float64(toolcall.Tokens(sent, r.turn.capability.CharactersPerToken)) / took.Seconds()
	if before := r.turn.capability.TokensPerSecond; before > 0 && before <= most {
		return
	}
	r.turn.capability = r.agent.keepCapability(context.WithoutCancel(ctx), r.trace, func(c models.Capability) models.Capability {
		c.TokensPerSecond = most
		return c
	})
}

func blend(before, found float64) float64 {
	switch {
	case found <= 0:
		return before
	case before <= 0:
		return found
	}
	return before + measured*(found-before)
}

// newsShare is the change of a figure from which it is stored again.
const newsShare = 0.03

func isNews(before, now float64) bool {
	return now > 0 && (now > before*(1+newsShare) || now < before*(1-newsShare))
}

// DescribeCapability says what is known of a model and from where, for people who
// run it.
func DescribeCapability(c models.Capability) string {
	out := fmt.Sprintf("%s by %s, ", c.Size, c.SizeSource)
	if c.ContextTokens == 0 {
		out += "context not known"
	} else {
		out += fmt.Sprintf("%d tokens by %s", c.ContextTokens, c.ContextSource)
	}
	out += fmt.Sprintf(", %d kept for an answer, tools %s by %s", c.AnswerTokens, c.Protocol, c.Reason)
	if c.CharactersPerToken > 0 {
		out += fmt.Sprintf(", %.1f characters a token", c.CharactersPerToken)
	}
	if c.TokensPerSecond > 0 {
		out += fmt.Sprintf(", %.0f tokens a second", c.TokensPerSecond)
	}
	return out
}
