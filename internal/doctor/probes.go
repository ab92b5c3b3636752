package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nyaruka/phonenumbers"

	"coachline/internal/agent"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/llm"
	"coachline/internal/memory"
	"coachline/internal/segments"
	"coachline/internal/web/mcp"
	"coachline/models"
	"coachline/prompts"
)

const (
	openAI = "https://api.openai.com/v1"
	twilio = "https://api.twilio.com"
)

// probeModel asks an OpenAI-compatible server for its models; an empty base is
// OpenAI's. It costs nothing. A server that does not list models but answers
// is well.
func probeModel(ctx context.Context, base, key string) (string, error) {
	if base == "" {
		base = openAI
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/models", http.NoBody)
	if err != nil {
		return "", fmt.Errorf("OPENAI_BASE_URL: %w", err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	status, err := probeStatus(req)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", base, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "", fmt.Errorf("%s refuses the key (HTTP %d)", base, status)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return base + " answers, but does not list its models", nil
	case status >= http.StatusBadRequest:
		return "", fmt.Errorf("%s answers HTTP %d", base, status)
	}
	return base, nil
}

// probeCarrier lists one text of the account, which needs the address, the
// account and its token to be right; an empty base is Twilio's.
func probeCarrier(ctx context.Context, base, accountSID, token string) (string, error) {
	base = cmp.Or(base, twilio)
	req, err := newCarrierRequest(ctx, accountAddress(base, accountSID)+"/Messages.json?PageSize=1", accountSID, token)
	if err != nil {
		return "", err
	}
	status, err := probeStatus(req)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", base, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "", fmt.Errorf("%s refuses the account or its token (HTTP %d)", base, status)
	case status >= http.StatusBadRequest:
		return "", fmt.Errorf("%s answers HTTP %d", base, status)
	}
	return base, nil
}

// accountAddress is where the carrier at a base address keeps an account.
func accountAddress(base, accountSID string) string {
	return strings.TrimRight(base, "/") + "/2010-04-01/Accounts/" + url.PathEscape(accountSID)
}

// newCarrierRequest returns a request that reads an address of the carrier for an account.
func newCarrierRequest(ctx context.Context, target, accountSID, token string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("TWILIO_BASE_URL: %w", err)
	}
	req.SetBasicAuth(accountSID, token)
	return req, nil
}

func probeStatus(req *http.Request) (int, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, withoutAddress(err)
	}
	defer res.Body.Close()
	return res.StatusCode, nil
}

// withoutAddress drops the method and address that the HTTP client puts before
// every error; they may hold an account.
func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// checkSupport fails where people of the United States are told of no person whom they can
// reach, or of no terms: carriers there refuse such a programme.
func checkSupport(cfg config.Config) (string, error) {
	number, err := phonenumbers.Parse(cfg.Carrier.From, "")
	if err == nil && phonenumbers.GetRegionCodeForNumber(number) == "US" && (cfg.Coaching.Support == "" || cfg.Coaching.TermsURL == "") {
		return "", errors.New("carriers in the US refuse a programme whose HELP names no person and no terms: set COACH_SUPPORT to a number, an address or an e-mail, and COACH_TERMS_URL to the page of terms and privacy policy")
	}
	return cfg.Coaching.Support, nil
}

// describeStop says who answers STOP, START and HELP, and warns where both may.
func describeStop(cfg config.Config) (string, error) {
	if cfg.Inbound.StopAnswer == config.StopByCarrier {
		return "the carrier answers STOP, START and HELP; we are silent", nil
	}
	if base := cfg.Carrier.BaseURL; cfg.Carrier.AccountSID == "" || base != "" && base != twilio {
		return "we answer STOP, START and HELP", nil
	}
	return "", connect.Warning("we answer STOP, START and HELP, and so does Twilio unless its handling is turned off or Advanced Opt-Out is on: ours then fail with 21610; see Opt-outs in operations, or set COACH_STOP_ANSWERED_BY=carrier")
}

// checkProgramme warns of a name that makes every text with it dearer.
func checkProgramme(name, locale string) (string, error) {
	if segments.Count(segments.Smart(name)).Encoding == segments.GSM7 {
		return name, nil
	}
	library, err := prompts.Load("")
	if err != nil {
		return "", err
	}
	cost := func(programme string) int {
		text, _ := library.Fixed(prompts.Help, locale, prompts.FixedData{Programme: programme})
		return segments.Count(segments.Smart(text)).Segments
	}
	return "", connect.Warning(fmt.Sprintf("COACH_PROGRAMME %q has a character outside GSM-7: each text with it takes more segments, HELP %d in place of %d", name, cost(name), cost(prompts.DefaultProgramme)))
}

// probeEmbeddings turns one word into a vector. Without vectors facts are found by words
// alone, so that a failure is a warning.
func probeEmbeddings(ctx context.Context, cfg config.Model) (string, error) {
	if cfg.Embedding == "" {
		return "", connect.Warning("no model of embeddings: facts are found by words alone; COACH_EMBEDDING_MODEL names one")
	}
	own := connect.ModelConfig(cfg)
	own.Logger = slog.New(slog.DiscardHandler)
	client, err := llm.New(own)
	if err != nil {
		return "", fmt.Errorf("building model client: %w", err)
	}
	vectors, err := client.Embed(ctx, []string{"habit"})
	if err != nil {
		return "", connect.Warning(fmt.Sprintf("facts are found by words alone: %s: %v", cfg.Embedding, err))
	}
	return fmt.Sprintf("%s: %d dimensions", cfg.Embedding, len(vectors[0])), nil
}

// probeServer lists the tools of an MCP server. Without it replies lack its tools alone, so
// that a failure is a warning.
func probeServer(ctx context.Context, client *mcp.Client) (string, error) {
	listed, missing, err := client.List(ctx)
	if err != nil {
		return "", connect.Warning(fmt.Sprintf("the coach goes on without its tools: %v", err))
	}
	var names []string
	for _, tool := range listed {
		names = append(names, client.Server.ToolName(tool.Name))
	}
	if len(missing) > 0 {
		return "", connect.Warning(fmt.Sprintf("it has %s, and no tool called %s", strings.Join(names, ", "), strings.Join(missing, ", ")))
	}
	return strings.Join(names, ", "), nil
}

// probeAnswer asks the model for one word, which costs a few tokens: a server that lists
// its models may answer nothing. A model that is only slow is a warning.
func probeAnswer(ctx context.Context, cfg config.Model) (string, error) {
	own := connect.ModelConfig(cfg)
	own.Logger, own.Timeout = slog.New(slog.DiscardHandler), probeLimit-time.Second
	client, err := llm.New(own)
	if err != nil {
		return "", fmt.Errorf("building model client: %w", err)
	}
	began := time.Now()
	_, err = client.Complete(ctx, models.ChatRequest{Model: cfg.Name, Messages: []models.ChatMessage{{Role: "user", Content: "Say hello."}}, MaxTokens: plainAnswer})
	took := time.Since(began)
	var failed *models.ModelError
	switch {
	case errors.As(err, &failed) && failed.TimedOut:
		return "", connect.Warning(fmt.Sprintf("%s: no answer to two words in %.0f s; people wait for up to COACH_MODEL_TIMEOUT (%s) and three attempts", cfg.Name, took.Seconds(), cfg.Timeout))
	case err != nil:
		return "", fmt.Errorf("%s: %w", cfg.Name, err)
	}
	return fmt.Sprintf("%s answers two words in %.1f s", cfg.Name, took.Seconds()), nil
}

// describeModel says what is known of the chat model, from where, and how long a
// reply will take.
func describeModel(ctx context.Context, cfg config.Config) (string, error) {
	client, err := llm.New(connect.ModelConfig(cfg.Model))
	if err != nil {
		return "", fmt.Errorf("building model client: %w", err)
	}
	if err := client.CheckName(ctx, cfg.Model.Name); err != nil {
		return "", err //nolint:wrapcheck // it says what to do
	}
	rows, err := connect.OpenDatabase(ctx, cfg)
	if err != nil {
		return "", err
	}
	known := agent.New(agent.Config{
		Journal: memory.New(rows), Server: client, Now: time.Now, Settings: agent.Settings{
			ChatModel: cfg.Model.Name, Endpoint: cfg.Model.Endpoint(),
			ModelSize: cfg.Model.Size.Forced(), ContextTokens: cfg.Model.ContextTokens, AnswerTokens: cfg.Model.AnswerTokens,
		},
	}).Capability(ctx)
	said := cfg.Model.Name + ": " + agent.DescribeCapability(known) + replyTime(known)
	if replySeconds(known) > cfg.Model.Timeout.Seconds() {
		return "", errors.Join(connect.Warning(said+"; that is longer than COACH_MODEL_TIMEOUT"), rows.Close())
	}
	return said, rows.Close()
}

const (
	// plainTurn is how many tokens a plain request has, plainAnswer its answer.
	plainTurn, plainAnswer = 3000, 80
	// writtenAsRead is how many tokens are read in the time in which one is written.
	writtenAsRead = 5
)

// replyTime says how long a reply takes where the speed was measured.
func replyTime(known models.Capability) string {
	seconds := replySeconds(known)
	if seconds <= 0 {
		return ""
	}
	return fmt.Sprintf("; a reply takes %.0f s at first, less where the server keeps what it has read", max(seconds, 1))
}

// replySeconds is how long a reply takes, 0 where the speed was not measured.
func replySeconds(known models.Capability) float64 {
	if known.TokensPerSecond <= 0 {
		return 0
	}
	return (plainTurn + writtenAsRead*plainAnswer) / known.TokensPerSecond
}
