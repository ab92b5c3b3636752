package toolcall

import (
	"regexp"
	"strconv"
	"strings"

	"coachline/models"
)

// Reasons of a models.Capability that this package writes.
const (
	ReasonName    = "name"    // guessed from the model's name
	ReasonSetting = "setting" // chosen for a test
	ReasonRefused = "refused" // the endpoint refused the tools field
	ReasonForced  = "forced"  // COACH_PROTOCOL
)

const (
	// smallBillions is the largest number of parameters, in billions, of a
	// model that counts as small.
	smallBillions = 9
	// smallContext is what a small model of unknown family can be trusted
	// with, in tokens.
	smallContext = 8192
)

var (
	// "7b", "0.5b", and "e4b" for effective parameters; the "a3b" of a sparse
	// model counts what is active and says nothing about its size, and "8x7b"
	// is a large one.
	parameters = regexp.MustCompile(`(?:^|[^a-z0-9.])e?(\d{1,4}(?:\.\d+)?)b(?:$|[^a-z0-9])`)
	millions   = regexp.MustCompile(`(?:^|[^a-z0-9.])\d{2,4}m(?:$|[^a-z0-9])`)
	// Families that are small where the name states no number of parameters.
	smallFamily = regexp.MustCompile(`^(?:tiny|smol|ministral|zephyr|orca-mini|openchat|neural-chat|stablelm|` +
		`mistral(?:$|:|-7b|-instruct)|llama-?[23](?:\.[12])?(?:$|:latest|:instruct)|gemma-?[123]?(?:$|:latest|:instruct)|` +
		`qwen-?[23](?:\.5)?(?:$|:latest)|(?:olmo-?2?|aya|falcon-?3|granite[\d.]*(?:-dense)?|hermes-?3)(?:$|:latest|:instruct)|phi-?3(?:\.5)?(?:$|:latest|:?-?mini)|phi-?4-mini)`)
	// Small models that were trained to use the tools field.
	// Models that think before they answer, and whose thoughts count as answer.
	thinkers        = regexp.MustCompile(`^(?:o[134](?:$|-)|gpt-5|gpt-oss|qwq|magistral|deepseek-r|qwen-?3(?:$|:|-\d))|think|reason|-r1\b`)
	trainedForTools = regexp.MustCompile(`functionary|hermes-(?:2-pro|3|4)|xlam|firefunction`)
)

// contexts guesses context sizes by name, in tokens; the first match counts.
var contexts = []struct {
	name   *regexp.Regexp
	tokens int
}{
	{regexp.MustCompile(`^gpt-4\.1`), 1_047_576},
	{regexp.MustCompile(`^gpt-5`), 272_000},
	{regexp.MustCompile(`^(?:gpt-4o|gpt-4-turbo|chatgpt-4o|o1-mini|gpt-oss)`), 128_000},
	{regexp.MustCompile(`^(?:o1|o3|o4|claude)`), 200_000},
	{regexp.MustCompile(`^gpt-4-32k`), 32_768},
	{regexp.MustCompile(`^gpt-4`), 8_192},
	{regexp.MustCompile(`^gpt-3\.5`), 16_385},
	{regexp.MustCompile(`^gemini`), 1_048_576},
	{regexp.MustCompile(`^(?:llama-?3\.[123]|command-r|mistral-(?:large|medium|small|nemo)|ministral)`), 131_072},
	{regexp.MustCompile(`^(?:deepseek|gemma-?3)`), 65_536},
	{regexp.MustCompile(`^(?:qwen-?[23]|mistral|mixtral)`), 32_768},
	{regexp.MustCompile(`^phi-?4`), 16_384},
	{regexp.MustCompile(`^llama-?2|^phi-?3`), 4_096},
}

// Sources are what is known of a model beside its name. The operator's settings go
// before what the server says; both are empty or 0 where there is nothing.
type Sources struct {
	Size models.ModelSize
	// Protocol is the operator's; nothing that is learnt goes before it.
	Protocol                    models.Protocol
	ContextTokens, AnswerTokens int
	Server                      models.ModelFacts
	// Stored is what was learnt of the model at its endpoint.
	Stored models.Capability
}

// Known returns what is known of a model, each part from its best source: setting,
// server, overflow, name. An overflow that names a shorter context than the server
// says is believed.
func Known(model string, from Sources) models.Capability {
	name, stored := familyOf(model), from.Stored
	out := models.Capability{
		Model: model, Endpoint: stored.Endpoint, LearntAt: stored.LearntAt, Reason: ReasonName,
		CharactersPerToken: stored.CharactersPerToken, TokensPerSecond: stored.TokensPerSecond,
	}
	out.Size, out.SizeSource = sizeOf(name, from)
	out.Protocol = protocolFor(name, out.Size)
	switch {
	case from.Protocol != "":
		out.Protocol, out.Reason = from.Protocol, ReasonForced
	case stored.Protocol != "" && stored.Reason != ReasonName && stored.Reason != ReasonForced:
		out.Protocol, out.Reason = stored.Protocol, stored.Reason
	}
	out.ContextTokens, out.ContextSource = contextFrom(name, out.Size, from)
	out.AnswerTokens = AnswerRoom(model, from.AnswerTokens)
	return out
}

func sizeOf(name string, from Sources) (models.ModelSize, models.CapabilitySource) {
	small, source := isSmall(name), models.FromName
	if from.Server.Billions > 0 {
		small, source = from.Server.Billions <= smallBillions, models.FromServer
	}
	switch {
	case from.Size != "":
		return from.Size, models.FromSetting
	case from.Stored.Size != "" && from.Stored.Reason == ReasonSetting:
		return from.Stored.Size, models.FromSetting
	case small:
		return models.SizeSmall, source
	}
	return models.SizeLarge, source
}

// contextFrom returns how long a request may be and where that is known from.
func contextFrom(name string, size models.ModelSize, from Sources) (int, models.CapabilitySource) {
	served, learnt := from.Server.ContextTokens, 0
	if from.Stored.ContextSource == models.FromOverflow {
		learnt = from.Stored.ContextTokens
	}
	switch {
	case from.ContextTokens > 0 && (learnt == 0 || from.ContextTokens <= learnt):
		return from.ContextTokens, models.FromSetting
	case learnt > 0 && (served == 0 || learnt < served):
		return learnt, models.FromOverflow
	case served > 0:
		return served, models.FromServer
	}
	if tokens := contextOf(name); tokens > 0 || size != models.SizeSmall {
		return tokens, models.FromName
	}
	return smallContext, models.FromName
}

// Refused returns what to put on record after an endpoint refused a request
// because of its tools; LearntAt is the caller's. ok is false where the
// protocol sends no tools field or is forced, so that sending again would change nothing.
// Call it only for errors that name tools or functions.
func Refused(c models.Capability) (out models.Capability, ok bool) {
	if c.Reason == ReasonForced {
		return c, false
	}
	switch c.Protocol {
	case models.ProtocolText, models.ProtocolTwoPhase:
		return c, false
	case models.ProtocolNative:
	}
	c.Protocol, c.Reason = models.ProtocolText, ReasonRefused
	return c, true
}

// familyOf returns the name without its vendor: "meta-llama/Llama-3.2-3B" is
// "llama-3.2-3b".
func familyOf(model string) string {
	name := strings.ToLower(strings.TrimSpace(model))
	return name[strings.LastIndex(name, "/")+1:]
}

func protocolFor(name string, size models.ModelSize) models.Protocol {
	if size == models.SizeSmall && !trainedForTools.MatchString(name) {
		return models.ProtocolText
	}
	return models.ProtocolNative
}

func isSmall(name string) bool {
	stated := parameters.FindAllStringSubmatch(name, -1)
	if len(stated) == 0 {
		return millions.MatchString(name) || smallFamily.MatchString(name)
	}
	most := 0.0
	for _, match := range stated {
		billions, err := strconv.ParseFloat(match[1], 64)
		if err == nil {
			most = max(most, billions)
		}
	}
	return most <= smallBillions
}

func contextOf(name string) int {
	for _, guess := range contexts {
		if guess.name.MatchString(name) {
			return guess.tokens
		}
	}
	return 0
}
