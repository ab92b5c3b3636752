package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// reader says which processes read a variable.
type reader string

const (
	readByWorker             reader = "worker"
	readByStarter            reader = "starter"
	readByBoth               reader = "both"
	readByCommands           reader = "commands"
	readByStarterAndCommands reader = "starter, commands"
	readByAll                reader = "all"
)

// ReadBy lists the variables that a role reads, in the order of the alphabet.
func ReadBy(role Role) []string {
	var names []string
	for name, about := range explanations {
		if about.by == readByBoth || about.by == readByAll || strings.Contains(string(about.by), string(role)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// explanation is what the documentation says of a variable.
type explanation struct {
	by      reader
	meaning string
}

// temporalVariables are read by the Temporal SDK's own loader, so that they are
// no fields of Config; the second column is their default.
var temporalVariables = [][2]string{
	{"TEMPORAL_ADDRESS", "localhost:7233"},
	{"TEMPORAL_NAMESPACE", "default"},
	{temporalAPIKey, ""},
	{"TEMPORAL_TLS*", ""},
	{"TEMPORAL_PROFILE", ""},
}

// first are the variables that an installation sets before all others.
var first = []string{
	databaseURL, "TEMPORAL_ADDRESS", "OPENAI_API_KEY", "COACH_MODEL", accountSID, authToken, from, payloadKeys, "COACH_PUBLIC_URL", "COACH_API_TOKEN",
}

// groupTitles are the captions of the tables, by the field of Config.
var groupTitles = map[string]string{
	"Temporal": "Temporal", "Model": "Model", "Replies": "Replies", "Web": "Web", "Carrier": "Carrier", "HTTP": "API, console and commands",
	"Inbound": "Senders", "Costs": "Costs", "Coaching": "Coaching", "Worker": "Turns, alerts and releases", "Tuning": "Size of the machine", "Log": "Log",
}

// Markdown are the tables of all variables for the documentation, those first that
// every installation sets: name, default, which processes read it, what it means.
func Markdown() string {
	var out strings.Builder
	head := func(title string) {
		fmt.Fprintf(&out, "\n**%s**\n\n| variable | default | read by | meaning |\n|---|---|---|---|\n", title)
	}
	row := func(name, preset string) {
		if preset == "" {
			preset = "-"
		} else {
			preset = "`" + preset + "`"
		}
		about := explanations[name]
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", name, preset, about.by, about.meaning)
	}
	all := variables()
	presets := map[string]string{"TEMPORAL_ADDRESS": temporalVariables[0][1]}
	for _, v := range all {
		presets[v.name] = v.preset
	}
	head("Set these first")
	for _, name := range first {
		row(name, presets[name])
	}
	for _, one := range temporalVariables {
		if one[0] == "TEMPORAL_NAMESPACE" {
			head(groupTitles["Temporal"])
		}
		if !slices.Contains(first, one[0]) {
			row(one[0], one[1])
		}
	}
	group := ""
	for _, v := range all {
		if slices.Contains(first, v.name) {
			continue
		}
		if of := reflect.TypeFor[Config]().Field(v.index[0]).Name; of != group {
			group = of
			head(groupTitles[group])
		}
		row(v.name, v.preset)
	}
	return out.String() + "\n"
}

// emptyMeans finds what a variable without a value, or with 0, means.
var emptyMeans = regexp.MustCompile(`(?:^|; |, )(empty|0): ([^;]+)`)

// resolve says what is in force for a value that is empty or 0; empty for others.
func resolve(name, value string) string {
	kind := map[string]string{"": "empty", "[]": "empty", "0": "0", "0s": "0"}[value]
	for _, found := range emptyMeans.FindAllStringSubmatch(Explain(name), -1) {
		if found[1] == kind {
			return found[2]
		}
	}
	if kind == "empty" {
		return "not set"
	}
	return ""
}

var markdownLink = regexp.MustCompile(`\[([^]]*)]\([^)]*\)`)

// Explain returns what a variable means as plain text; empty for a name that is
// none.
func Explain(name string) string {
	plain := markdownLink.ReplaceAllString(explanations[name].meaning, "$1")
	return strings.ReplaceAll(plain, "`", "")
}

// explanations holds one entry for each variable.
var explanations = map[string]explanation{
	databaseURL: {readByAll, "`postgres://...` or `sqlite:PATH`"},

	"TEMPORAL_ADDRESS":   {readByBoth, "the Temporal frontend"},
	"TEMPORAL_NAMESPACE": {readByBoth, "namespace of the workflows"},
	temporalAPIKey:       {readByBoth, "key of Temporal Cloud"},
	"TEMPORAL_TLS*":      {readByBoth, "certificates, as in the Temporal SDK"},
	"TEMPORAL_PROFILE":   {readByBoth, "profile of the Temporal configuration file; variables win"},

	"OPENAI_API_KEY":         {readByWorker, "key of the model; optional with `OPENAI_BASE_URL`"},
	"OPENAI_API_KEYS":        {readByWorker, "more keys, with commas, used in turn"},
	"OPENAI_BASE_URL":        {readByWorker, "any OpenAI-compatible server; empty: OpenAI"},
	"COACH_MODEL":            {readByWorker, "chat model"},
	"COACH_SMALL_MODEL":      {readByWorker, "decides, plans and digests; empty: `COACH_MODEL`"},
	"COACH_PROTOCOL":         {readByWorker, "how tools are offered: `native`, `text`, `two_phase`, `auto` (by name, size and refusals)"},
	"COACH_MODEL_SIZE":       {readByWorker, "`small`, `large`, `auto` (by server, else by name): small models get plans, digests and tools as text"},
	"COACH_CONTEXT_TOKENS":   {readByWorker, "tokens of a request with its answer; 0: by server, refusals or name"},
	"COACH_MODEL_TIMEOUT":    {readByWorker, "the longest wait for one answer of the model, 5s to 10m; stages before a reply wait in proportion, and a reply is tried for three times as long"},
	"COACH_ANSWER_TOKENS":    {readByWorker, "tokens kept for an answer; 0: 400, or 4,096 for names of models that think aloud"},
	"COACH_EMBEDDING_MODEL":  {readByWorker, "turns text into vectors"},
	"COACH_EMBEDDING_URL":    {readByWorker, "an OpenAI-compatible server of `COACH_EMBEDDING_MODEL`; empty: that of the model"},
	"COACH_EMBEDDING_KEY":    {readByWorker, "its key; empty: it needs none"},
	"COACH_TRANSCRIBE_MODEL": {readByBoth, "transcribes voice notes; empty: off"},
	keysFile:                 {readByWorker, "JSON file of [keys](#several-keys)"},
	secondFile:               {readByWorker, "a [second server](#a-second-server) of models"},

	"COACH_MEMORY_STEP":    {readByWorker, "when facts are remembered: `after` the conversation, once it rests (channel `terminal`: before a reply), `before` each reply, at one more model call, `off`"},
	"COACH_HOT_WINDOW":     {readByWorker, "how long a conversation lasts after its newest entry; when it has rested so long, one model call reads what is new for facts, note and summary"},
	"COACH_ROUTER":         {readByWorker, "how tools are chosen: `all`, `keyword`, `embedding`, `model`, `auto` (by model and number)"},
	"COACH_PLANNER":        {readByWorker, "a plan before the answer: `on`, `off`, `auto` (small models only)"},
	"COACH_DIGESTS":        {readByWorker, "shortened memories: `on`, `off`, `auto`"},
	"COACH_ADVICE_CHECK":   {readByWorker, "which texts of the model the small model [judges before they are sent](advice.md): `auto` those that rules and a score choose, `on` every one, `off` none"},
	"COACH_TOOL_DIGESTS":   {readByWorker, "shortened web pages: `on`, `off`, `auto`"},
	"COACH_SUBAGENTS":      {readByWorker, "`on`: the model may start [subagents](design.md#subagents)"},
	"COACH_MESSAGE_TOOL":   {readByWorker, "`on`: the model may text [within a turn](design.md#a-text-in-the-middle-of-a-turn)"},
	"COACH_FOCUSES":        {readByBoth, "`on`: the shipped [focuses](#prompts-playbooks-and-focuses) habit and setback; the small model chooses one for each text"},
	"COACH_RECALLED_FACTS": {readByWorker, "most facts that a search of memory adds to a reply"},
	"COACH_CARRIED_CALLS":  {readByWorker, "most rounds of tool calls of earlier turns that a reply sees"},
	"COACH_CARRIED_CHARS":  {readByWorker, "most characters of each of their results"},
	"COACH_TOOL_SEARCHES":  {readByWorker, "most searches for tools in one reply"},
	"COACH_STAGE_TIMEOUT":  {readByWorker, "how long the small model is awaited, in proportion to `COACH_MODEL_TIMEOUT`; the planner has three quarters"},

	"COACH_WEB_SEARCH_URL": {readByWorker, "JSON endpoint of SearXNG; empty: no [search](#the-web)"},
	"COACH_WEB_SEARCH_KEY": {readByWorker, "its bearer token"},
	"COACH_WEB_FETCH":      {readByWorker, "`on`: the coach may read pages that a search or the person named"},
	"COACH_WEB_ALLOW":      {readByBoth, "private `IP:PORT` list for web pages, MCP servers and [webhooks](webhooks.md)"},
	"COACH_MCP_FILE":       {readByWorker, "file of [MCP servers](#mcp-servers) whose tools the coach may call"},

	accountSID:        {readByBoth, "account of the carrier"},
	authToken:         {readByBoth, "its token; during a rotation two, with a comma: the first sends"},
	from:              {readByBoth, "the sending number; or `TWILIO_MESSAGING_SERVICE_SID`"},
	messagingService:  {readByBoth, "a messaging service in the place of a number"},
	"TWILIO_BASE_URL": {readByWorker, "another server with Twilio's API"},
	"COACH_SEND_RATE": {readByBoth, "segments a second of all workers (a send is two); 0: no limit"},

	"COACH_HTTP_ADDR":          {readByStarterAndCommands, "listening address"},
	"COACH_PUBLIC_URL":         {readByBoth, "public base address; required unless `COACH_HTTP_ADDR` is loopback"},
	"COACH_TRUSTED_PROXIES":    {readByStarter, "networks (CIDR, one address as 10.0.0.5/32), divided by commas, of the proxies whose `X-Forwarded-For` says who the client is, for limits of wrong logins and the audit"},
	"COACH_API_TOKEN":          {readByStarterAndCommands, "bearer token, 32 characters or more; required likewise"},
	"COACH_URL":                {readByCommands, "address of the API; empty: current context, or `COACH_HTTP_ADDR`"},
	"COACH_PHONES_URL":         {readByStarter, "the simulated phones; `make dev` sets it"},
	"COACH_OIDC_ISSUER":        {readByStarter, "[OpenID Connect](operations.md#people-roles-and-tokens) provider for operators"},
	"COACH_OIDC_CLIENT_ID":     {readByStarter, "its client id"},
	"COACH_OIDC_CLIENT_SECRET": {readByStarter, "its client secret"},
	"COACH_UI_ORIGIN":          {readByStarter, "origins of the Temporal UI that may open payloads"},
	pricesFile:                 {readByBoth, "JSON file of [prices](#prices); empty: usage alone"},
	turnLimit:                  {readByWorker, "what the model may cost in a turn, in the currency of the prices, before a fixed text stands in; 0: no limit"},
	personDayLimit:             {readByBoth, "for a person on a day (UTC) who has no budget of their own"},
	strangerHourLimit:          {readByStarter, "for texts to strangers in an hour; the first safety text to a number always goes"},

	"COACH_TEXTS_PER_MINUTE": {readByBoth, "messages of a sender a minute that reach the coach; 0: all"},
	"COACH_TEXTS_PER_DAY":    {readByBoth, "most messages of a sender in 24 hours that reach the coach; 0: all"},
	"COACH_LOOP_MUTE":        {readByBoth, "how long a sender that seems a machine is muted; 0: off"},
	"COACH_STOP_ANSWERED_BY": {readByBoth, "who [answers STOP, START and HELP](operations.md#opt-outs): `carrier` for Twilio's default handling, `coach` where it is turned off, or with Advanced Opt-Out, which tells of each answer"},
	"COACH_UNKNOWN_SENDERS":  {readByBoth, "people not enrolled get a fixed text a day (`hint`) or none (`silent`)"},

	payloadKeys: {readByAll, "`keyid:base64` list of [keys](operations.md#keys) that seal texts and payloads, the current first"},

	"COACH_PROGRAMME":             {readByBoth, "name of the programme in texts"},
	"COACH_DEFAULT_TIMEZONE":      {readByBoth, "zone of people without one"},
	"COACH_DEFAULT_REGION":        {readByBoth, "for national numbers, and quiet hours of people without a zone"},
	"COACH_LOCALE":                {readByWorker, "language of people without one (de, en, es, fr, pt; `es-MX`); empty: the region's"},
	"COACH_PREP_TIME":             {readByBoth, "how long before its time a fixed prompt goes out"},
	"COACH_PROMPT_SPREAD":         {readByBoth, "over which prompts of one minute, greetings after quiet hours and delayed texts are spread; 0: off"},
	"COACH_PROMPT_GRACE":          {readByBoth, "how late a prompt may go out, on its local date"},
	"COACH_REMINDER_DELAY":        {readByBoth, "from an unanswered prompt to its reminder; 0: off"},
	"COACH_AUTO_FEEDBACK_DELAY":   {readByBoth, "from an unanswered prompt to mode `FEEDBACK`; 0: off"},
	"COACH_FEEDBACK_TIMEOUT":      {readByBoth, "silence in `FEEDBACK` before a feedback question; 0: off"},
	"COACH_FEEDBACK_FOLLOWUP":     {readByBoth, "from that question to a follow-up; 0: off"},
	"COACH_CHECK_IN":              {readByBoth, "silence before a [check-in](#check-ins), of which a day has one; 5m or more; 0: off"},
	"COACH_SUPPORT":               {readByBoth, "number, address or e-mail of a person, which HELP says; carriers in the US ask for it"},
	"COACH_TERMS_URL":             {readByBoth, "address of terms and privacy policy, which HELP and the opt-in texts say; carriers in the US ask for it"},
	"COACH_ADDRESS":               {readByWorker, "how people are addressed in German, French, Spanish and Portuguese, by texts and model: `informal` or `formal`"},
	"COACH_MAX_INITIATED_PER_DAY": {readByBoth, "most texts that [we start](#how-often-we-text) on a person's local day; 0: no limit, each of these times for itself"},
	"COACH_DEBOUNCE":              {readByBoth, "how long a turn waits for another message; two and a half times that after a message that is short or has no end mark, three quarters after a question or a long one; 0: off"},
	"COACH_DEBOUNCE_MAX":          {readByBoth, "the longest wait from a burst's first message; a reply is held back within it when more comes while it is written"},
	"COACH_RETENTION":             {readByStarter, "from removal to [erasure](operations.md#a-person-asks-for-erasure), such as `8760h`; 0: never"},
	"COACH_STRANGER_RETENTION":    {readByStarter, "how long texts and numbers of people who were never enrolled are kept; 0: for ever"},
	"COACH_REASSIGNED_AFTER":      {readByWorker, "silence, such as `2160h`, after which Twilio Lookup is asked before what we start whether a US number [has gone to another person](operations.md#a-number-may-have-a-new-owner); 0: never"},
	"COACH_LATE_TRY":              {readByBoth, "until an undelivered text (30003, 30008) is [sent again](operations.md#a-text-was-not-delivered); 0: off"},
	quietHours:                    {readByBoth, "local hours without texts from us, except at times the person chose; stricter hours of a US state of the number count too; a person in the US whose zone is unknown gets them only when it is day in every US zone; empty: none"},

	"COACH_PROMPTS_DIR":            {readByBoth, "folder of your own [prompts](#prompts-playbooks-and-focuses)"},
	"COACH_HISTORY_LIMIT":          {readByWorker, "entries that the model sees; 0: none, -1: no cap"},
	"COACH_FEEDBACK_HISTORY_LIMIT": {readByWorker, "the same in mode `FEEDBACK`, where a prompt is talked about; empty: as in `INTAKE`"},
	"COACH_MAX_TURNS":              {readByWorker, "steps of a turn: calls of the model"},
	"COACH_MAX_TOOL_CALLS":         {readByWorker, "tool calls of a turn"},
	"COACH_CONTINUE_AS_NEW_EVENTS": {readByWorker, "events before continue-as-new; 0: the server suggests"},
	"COACH_DEPLOYMENT_VERSIONING":  {readByBoth, "how people [move to a new build](operations.md#rolling-out-a-workflow-change): `off`, `auto`, `pinned`"},
	"TEMPORAL_DEPLOYMENT_NAME":     {readByBoth, "worker deployment that the builds are versions of"},
	"TEMPORAL_WORKER_BUILD_ID":     {readByBoth, "name of this build; empty: its version, with a digest of the program where the sources were changed"},
	"COACH_ALERT_URL":              {readByBoth, "pages a person in a [crisis](operations.md#texts-that-may-be-a-crisis); empty: no page"},
	"COACH_ALERT_WORDS":            {readByWorker, "`on`: a page has the words of the message that were recognised and the second look's reason; `off`: ids, rule and link only"},
	"COACH_ALERT_ESCALATION":       {readByStarter, "until an alert not acknowledged pages again; 0: never"},
	"COACH_SECOND_LOOK":            {readByBoth, "`on`: the small model [reads a weak sign of danger once more](screening.md#the-second-look) before anything is answered; `off`: each weak sign gets the safety text"},
	"COACH_HELPLINES_FILE":         {readByBoth, "table of [numbers for people in danger](screening.md#which-numbers), whose countries replace the programme's own"},
	"COACH_CRISIS_TAKE_OVER":       {readByBoth, "how long an alert [silences the coach](operations.md#take-a-conversation-over); 0: off"},
	"COACH_METRICS_ADDR":           {readByWorker, "private `HOST:PORT` of `/metrics`, `/livez` and `/readyz`, no token"},
	"COACH_PROFILES":               {readByWorker, "`on`: it also serves profiles of the process, `/debug/pprof/`"},

	"COACH_WORKFLOW_POLLERS":     {readByWorker, "polls for workflow tasks a queue; 0: the server advises"},
	"COACH_ACTIVITY_POLLERS":     {readByWorker, "for activities"},
	"COACH_WORKER_SLOTS":         {readByWorker, "concurrent tasks of a kind and queue; 0: more as long as 80 % of processors and memory suffice"},
	"COACH_WORKFLOW_CACHE":       {readByWorker, "participants in memory, 33 KiB each"},
	"COACH_QUEUES":               {readByWorker, "`one` for all tasks (sends apart with `COACH_SEND_RATE`), or `split` (`coach-model`, `coach-sms`)"},
	"COACH_DATABASE_CONNECTIONS": {readByBoth, "connections of each process; 0: 10 on PostgreSQL, 4 on SQLite"},

	"COACH_LOG_LEVEL": {readByBoth, "`debug`, `info`, `warn`, `error`"},
}
