package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"coachline/models"
)

// failure is what a server says went wrong. Its text is looked at and never
// passed on: it may quote the request or the key.
type failure struct {
	code string
	kind string
	// text is everything as text, in lower case: the message, the name of the
	// parameter, what a gateway quotes of the server behind it.
	text string
	// context and prompt are the tokens of an overflow, where it names them in fields
	// of their own.
	context, prompt int
}

// readFailure reads {"error":{...}}, {"error":"..."}, the same in a list, the
// object without a wrapper and {"detail":...}; anything else is an empty
// failure. A numeric code becomes its digits.
func readFailure(body []byte) failure {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return failure{}
	}
	if len(outer.Error) == 0 || bytes.Equal(outer.Error, []byte("null")) {
		return readProblem(body)
	}
	var text string
	if json.Unmarshal(outer.Error, &text) == nil {
		return failure{text: strings.ToLower(text)}
	}
	return readProblem(outer.Error)
}

func readProblem(raw []byte) failure {
	var in struct {
		Code     looseText       `json:"code"`
		Type     looseText       `json:"type"`
		Message  looseText       `json:"message"`
		Param    looseText       `json:"param"`
		Detail   json.RawMessage `json:"detail"`
		Context  looseCount      `json:"n_ctx"`
		Prompt   looseCount      `json:"n_prompt_tokens"`
		Metadata struct {
			Raw looseText `json:"raw"`
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return failure{}
	}
	words := []string{string(in.Param), string(in.Message), readDetail(in.Detail), string(in.Metadata.Raw)}
	return failure{
		code: string(in.Code), kind: string(in.Type), text: strings.ToLower(strings.TrimSpace(strings.Join(words, "\n"))),
		context: int(in.Context), prompt: int(in.Prompt),
	}
}

// readDetail reads a text, or the list of places and messages of FastAPI.
func readDetail(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []struct {
		Place   []looseText `json:"loc"`
		Message looseText   `json:"msg"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var lines []string
	for _, one := range list {
		words := []string{}
		for _, place := range one.Place {
			words = append(words, string(place))
		}
		lines = append(lines, strings.Join(append(words, string(one.Message)), " "))
	}
	return strings.Join(lines, "\n")
}

func (f failure) hasCode(codes []string) bool {
	return slices.Contains(codes, f.code) || slices.Contains(codes, f.kind)
}

var overflowCodes = []string{
	"context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded", "tokens_limit_reached", "request_too_large",
}

// overlong are the messages of servers that name no code.
var overlong = regexp.MustCompile(strings.Join([]string{
	`maximum context length`, `maximum prompt length`, `maximum model length`, `context length is`,
	`(exceeds?|longer than|greater than) the (model'?s? )?(available |maximum )?context`,
	`context (size|length|window) (has been )?(exceeded|overflow)`, `context the overflows`,
	`(prompt|input) is too long`, `request too large`, `too many tokens`, `reduce the length of the (messages|prompt|input)`,
	`input token count .*exceeds`, "`inputs` tokens \\+ `max_new_tokens` must be",
}, "|"))

// tooLong reports whether the request is longer than the model or the account ever
// takes.
func (f failure) tooLong(status int) bool {
	return f.hasCode(overflowCodes) || status == http.StatusRequestEntityTooLarge || overlong.MatchString(f.text)
}

var (
	// contextNamed and promptNamed find how long a request may be and how long it is.
	contextNamed = regexp.MustCompile(`(?:maximum|max|context|available) (?:context |prompt |model )?(?:length|size|window)(?: of| is|:)?(?: only)?[ (]+(\d[\d,]*)|` +
		`tokens > (\d+) maximum|tokens allowed \((\d+)\)|must be <= (\d+)`)
	promptNamed = regexp.MustCompile(`(\d[\d,]*) (?:in the messages|tokens > \d+ maximum|` + "`inputs` tokens" + `|input tokens)|token count \((\d+)\)|input \((\d+) tokens\)|` +
		`request contains (\d+) tokens|(?:you requested|resulted in|prompt contains|keep the first) (?:at least )?(\d[\d,]*)`)
)

// overflowTokens returns what an overflow says of the context and of the request, 0
// where it does not. A limit by the minute is no context.
func (f failure) overflowTokens() (context, prompt int) {
	if strings.Contains(f.text, "per min") {
		return 0, 0
	}
	context, prompt = f.context, f.prompt
	if context == 0 {
		context = firstNumber(contextNamed, f.text)
	}
	if prompt == 0 {
		prompt = firstNumber(promptNamed, f.text)
	}
	return context, prompt
}

// firstNumber returns the number of a pattern's first match, 0 for none.
func firstNumber(pattern *regexp.Regexp, text string) int {
	for i, group := range pattern.FindStringSubmatch(text) {
		if i == 0 || group == "" {
			continue
		}
		n, err := strconv.Atoi(strings.ReplaceAll(group, ",", ""))
		if err == nil {
			return n
		}
	}
	return 0
}

// canComplain reports whether the status is one with which servers refuse a
// part of a request.
func canComplain(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return true
	}
	return false
}

// canComplainOfRoles reports whether the status is one with which servers refuse the
// roles of a conversation; llama.cpp's reports what its template raises as 500.
func canComplainOfRoles(status int) bool {
	return canComplain(status) || status == http.StatusInternalServerError
}

var (
	jsonMode      = regexp.MustCompile(`response_?format|json[ _]?mode|json_object`)
	temperature   = regexp.MustCompile(`\btemperature\b`)
	effort        = regexp.MustCompile(`reasoning[_. ]effort`)
	answerLimit   = regexp.MustCompile(`\bmax_(?:completion_)?tokens\b`)
	streamOptions = regexp.MustCompile(`stream_options|include_usage`)
	// onlyStreams are the messages of servers that answer in pieces only.
	onlyStreams = regexp.MustCompile(strings.Join([]string{
		`\bonly (supports? |accepts? |allows? )?stream(ing|ed)?\b`, `\bstream(ing)?['"]?( parameter| mode| flag)? (must be|should be|is required|has to be)\b`,
		`\bnon-?stream(ing|ed)?\b.*(not|n't) (currently |yet )?(be )?(support|allow|implement)`, `\benable the stream parameter\b`,
		`\brequires? (stream|streaming)\b`, `\bset ['"]?stream['"]? to true\b`,
	}, "|"))
	// unsupported are the messages about a part that is not taken at all, as against
	// one that is filled in wrongly.
	unsupported = regexp.MustCompile(strings.Join([]string{
		`(not|n't) (currently |yet )?(be )?(support|allow|permit|enabled|available|implemented|recogni[sz]ed)`,
		`unsupported`, `no endpoints? found`, `not compatible`, `incompatible`, `cannot find field`,
		`(unknown|unrecogni[sz]ed|unexpected) (name|field|parameter|argument|request argument|keyword|role|property)`,
		`extra (inputs|fields|parameters)`, `only (the default|supports?)`, `requires --`, `supports? only`,
	}, "|"))
	// strictRoles and noSystemRole are what chat templates raise.
	strictRoles  = regexp.MustCompile(`roles? must (strictly )?alternate|must alternate between|unexpected role|(last|first) message must (be|have)( from)?( the)?( role)? ['"]?user`)
	noSystemRole = regexp.MustCompile(`(system|developer)['"]? (role|message|prompt|instruction)s?['"]? (is |are )?(not (supported|allowed|enabled)|unsupported)|` +
		`does not support (a |the )?['"]?(system|developer)['"]? (role|message|prompt|instruction)|(developer|system) instruction is not enabled|` +
		`only user(,| and)? (and )?(assistant|model)( and tool)? roles are (supported|allowed)`)
	toolWords = regexp.MustCompile(`\b(tools?|tool_choice|tool_calls?|functions?|function_call)\b`)
	// within is a place inside the tools that were sent: such a complaint is
	// about their schema, and not about tools.
	within   = regexp.MustCompile(`\b(tools|functions)(\[|\.[\w\[]|\s+\d)\S*`)
	sentence = regexp.MustCompile(`[.;!?]\s|\n`)
)

// refusedWish returns the optional part that the server would not have; empty when it
// complains about something else.
func (f failure) refusedWish(status int) optionalField {
	switch {
	case canComplainOfRoles(status) && (noSystemRole.MatchString(f.text) || f.wantsOtherRoles(status)):
		return wishSystem
	case !canComplain(status):
	case streamOptions.MatchString(f.text):
		return wishUsage
	case onlyStreams.MatchString(f.text):
		return wishWhole
	case jsonMode.MatchString(f.text):
		return wishJSON
	case temperature.MatchString(f.text) && unsupported.MatchString(f.text):
		return wishTemperature
	case effort.MatchString(f.text):
		return wishEffort
	case answerLimit.MatchString(f.text) && unsupported.MatchString(f.text):
		return wishCompletionTokens
	}
	return ""
}

// wantsOtherRoles reports whether the roles of the messages are not taken in their
// order. Ours alternate, so that the system message is in the way, or what tools
// returned.
func (f failure) wantsOtherRoles(status int) bool {
	return canComplainOfRoles(status) && strictRoles.MatchString(f.text)
}

// isLasting reports whether the refusal holds for later requests. OpenAI
// refuses JSON too when the messages do not mention it, which is no property of
// the model.
func (f failure) isLasting() bool {
	return !strings.Contains(f.text, "must contain the word") && !strictRoles.MatchString(f.text)
}

// noTools reports whether one sentence names tools or functions as what is not
// supported, or whether the roles of a conversation with tools are not taken: as
// text, tools need no role of their own. A bad request of any other kind is not
// taken for that.
func (f failure) noTools(status int) bool {
	if strings.Contains(f.text, "requires --jinja") {
		return true // llama.cpp's server answers 500
	}
	if f.wantsOtherRoles(status) {
		return true
	}
	if !canComplain(status) || strings.Contains(f.text, "schema") {
		return false
	}
	for _, one := range sentence.Split(within.ReplaceAllString(f.text, ""), -1) {
		if toolWords.MatchString(one) && unsupported.MatchString(one) {
			return true
		}
	}
	return false
}

const (
	// maxErrorBody is more than any error object needs.
	maxErrorBody = 64 << 10
	// maxRetryAfter keeps a nonsensical header from overflowing.
	maxRetryAfter = 24 * time.Hour
)

// fault is a failed request: the error for the caller, and what the client may
// do about it first.
type fault struct {
	err models.ModelError
	// key says whether another key may fare better; wait is how long the server
	// wants this one left alone, 0 when it does not say.
	key  verdict
	wait time.Duration
	// unwished is the optional part that the server would not have, if any;
	// lasting tells that no other request will fare better.
	unwished optionalField
	lasting  bool
	// noTools reports that the error names tools as what is not supported.
	noTools bool
}

func (f *fault) modelError(req models.ChatRequest) *models.ModelError {
	out := f.err
	if f.noTools && usesTools(req) {
		out.Class = models.ModelNoTools
	}
	return &out
}

// orNoKey returns the fault when no key is left: none says why, f (nil when
// nothing was sent) what the last answer was.
func (f *fault) orNoKey(none *models.ModelError) *fault {
	out := &fault{err: *none, key: keyGood}
	if f != nil {
		out.err.Status = f.err.Status
		out.err.Message = f.err.Message + "; " + none.Message
	}
	return out
}

// Codes and types by which servers name a class, with any status.
var (
	declinedCodes = []string{"content_filter", "content_policy_violation"}
	unpaidCodes   = []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
	barredCodes   = []string{"invalid_api_key", "account_deactivated"}
	// The model wrote what its own server could not read; it may do better.
	stumbleCodes = []string{"tool_use_failed", "json_validate_failed"}
	goneCodes    = []string{"model_not_found", "DeploymentNotFound"}
)

// modelGone are the messages of servers that do not have a model.
var modelGone = regexp.MustCompile(`\bmodel\b.{0,80}\b(not found|does not exist|not exist|is not loaded)|no such model`)

// toFault turns a failed request into a fault; res is nil when no answer came.
func toFault(ctx context.Context, res *http.Response, now time.Time) *fault {
	if res == nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			out := serverFault(0, "no answer in time")
			out.err.TimedOut = true
			return out
		}
		return serverFault(0, "no answer")
	}
	if res.StatusCode < http.StatusBadRequest {
		return serverFault(res.StatusCode, "the answer broke off")
	}
	var body []byte
	if res.Body != nil {
		// What cannot be read of an error leaves its status, which is enough.
		body, _ = io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	}
	failed := readFailure(body)
	out := byStatus(res.StatusCode, failed)
	switch {
	case isPage(body):
		out.err.Message += ": " + pageHint
	case canComplain(res.StatusCode) && (slices.Contains(goneCodes, failed.code) || modelGone.MatchString(failed.text)):
		out.err.Message += ": the server does not have the model; see COACH_MODEL and COACH_SMALL_MODEL"
	}
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		out.err.Class, out.noTools, out.unwished = models.ModelBusy, false, ""
	case "false":
		if out.err.Class == models.ModelBusy {
			out.err.Class = models.ModelRefused
		}
	}
	if out.err.Class == models.ModelBusy || out.key == keyLimited {
		out.wait = retryAfter(res.Header, now)
	}
	if out.err.Class == models.ModelBusy {
		out.err.RetryAfter = out.wait
	}
	return out
}

// serverFault returns a failure that says nothing about the key or the request.
func serverFault(status int, message string) *fault {
	return &fault{err: *busyError(status, message), key: keyGood}
}

// byStatus classes by what the server names, then by status.
func byStatus(status int, failed failure) *fault {
	out := &fault{key: keyGood, err: models.ModelError{Class: models.ModelRefused, Status: status, Message: describeStatus(status, failed)}}
	switch {
	case failed.tooLong(status):
		out.err.Class = models.ModelOverflow
		out.err.ContextTokens, out.err.PromptTokens = failed.overflowTokens()
	case failed.hasCode(declinedCodes):
		out.err.Class = models.ModelDeclined
	case failed.hasCode(unpaidCodes), status == http.StatusPaymentRequired:
		out.err.Class, out.key = models.ModelAuth, keyUnpaid
	case failed.hasCode(barredCodes), status == http.StatusUnauthorized, status == http.StatusForbidden,
		strings.Contains(failed.text, "api key not valid"):
		out.err.Class, out.key = models.ModelAuth, keyBarred
	case failed.hasCode(stumbleCodes):
		out.err.Class = models.ModelBusy
	case failed.refusedWish(status) != "":
		out.unwished, out.lasting, out.noTools = failed.refusedWish(status), failed.isLasting(), failed.wantsOtherRoles(status)
	case failed.noTools(status):
		out.noTools = true
	case status == http.StatusTooManyRequests:
		out.err.Class, out.key = models.ModelBusy, keyLimited
	case mayPass(status):
		out.err.Class = models.ModelBusy
	}
	return out
}

// mayPass reports whether the same request may succeed later. 200 is a failure in the guise of
// an answer.
func mayPass(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusOK:
		return true
	}
	return status >= http.StatusInternalServerError
}

// plainCode matches names such as rate_limit_exceeded; a key or a sentence
// does not resemble one.
var plainCode = regexp.MustCompile(`^[a-z][a-z_]{0,63}$`)

func describeStatus(status int, failed failure) string {
	out := "status " + strconv.Itoa(status)
	if text := http.StatusText(status); text != "" {
		out += " " + text
	}
	for _, name := range []string{failed.code, failed.kind} {
		if plainCode.MatchString(name) {
			return out + ", " + name
		}
	}
	return out
}

// retryAfter returns what the server asked for: Retry-After-Ms, then Retry-After in
// seconds or as a date; 0 when neither makes sense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if wait, ok := parseWait(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	text := header.Get("Retry-After")
	if wait, ok := parseWait(text, time.Second); ok {
		return wait
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

func parseWait(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(maxRetryAfter))), true
}
