package config

import (
	"fmt"
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

// Markdown is the table of every variable for the documentation: its name, its
// default, which processes read it, and what it means.
func Markdown() string {
	var out strings.Builder
	out.WriteString("| variable | default | read by | meaning |\n|---|---|---|---|\n")
	row := func(name, preset string) {
		if preset == "" {
			preset = "-"
		} else {
			preset = "`" + preset + "`"
		}
		about := explanations[name]
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", name, preset, about.by, about.meaning)
	}
	for i, v := range variables() {
		row(v.name, v.preset)
		if i == 0 {
			for _, one := range temporalVariables {
				row(one[0], one[1])
			}
		}
	}
	return out.String()
}

// explanations holds one entry for each variable.
var explanations = map[string]explanation{
	databaseURL: {readByAll, "`postgres://...` or `sqlite:PATH`"},

	"TEMPORAL_ADDRESS":   {readByBoth, "address of the Temporal frontend"},
	"TEMPORAL_NAMESPACE": {readByBoth, "namespace of the participants' workflows"},
	temporalAPIKey:       {readByBoth, "key of Temporal Cloud"},
	"TEMPORAL_TLS*":      {readByBoth, "certificates, named as in the Temporal SDK"},
	"TEMPORAL_PROFILE":   {readByBoth, "profile of the Temporal configuration file; variables win over it"},

	"OPENAI_API_KEY":         {readByWorker, "key of the model; not needed with `OPENAI_BASE_URL`"},
	"OPENAI_API_KEYS":        {readByWorker, "more keys, divided by commas, used in turn"},
	"OPENAI_BASE_URL":        {readByWorker, "any OpenAI-compatible server; empty: OpenAI"},
	"COACH_MODEL":            {readByWorker, "the chat model"},
	"COACH_SMALL_MODEL":      {readByWorker, "the model that decides, plans and digests; empty: `COACH_MODEL`"},
	"COACH_EMBEDDING_MODEL":  {readByWorker, "the model that turns text into vectors"},
	"COACH_TRANSCRIBE_MODEL": {readByBoth, "the model that transcribes voice notes; empty: they are not opened"},
	keysFile:                 {readByWorker, "path of a JSON file with [several keys](#several-keys) of the model"},

	"COACH_MEMORY_STEP":  {readByWorker, "when facts are remembered: `after` the reply (on the channel `terminal` before it), `before` or `off`"},
	"COACH_HOT_WINDOW":   {readByWorker, "how long a conversation goes on after its newest entry"},
	"COACH_ROUTER":       {readByWorker, "how tools beyond a mode's own are chosen: `all`, `keyword`, `embedding`, `model`, or `auto` by the model and the number of tools"},
	"COACH_PLANNER":      {readByWorker, "a plan before the first answer: `on`, `off`, or `auto` by the model's size"},
	"COACH_DIGESTS":      {readByWorker, "shortened memories: `on`, `off`, or `auto` by the model's size"},
	"COACH_TOOL_DIGESTS": {readByWorker, "shortened web pages: `on`, `off`, or `auto` by the model's size"},
	"COACH_SUBAGENTS":    {readByWorker, "`on` lets the model start subagents ([design](design.md#subagents))"},
	"COACH_MESSAGE_TOOL": {readByWorker, "`on` lets the model text the participant [within a turn](design.md#a-text-in-the-middle-of-a-turn)"},

	"COACH_WEB_SEARCH_URL": {readByWorker, "JSON endpoint of a SearXNG-compatible server; empty: no [search](#the-web)"},
	"COACH_WEB_SEARCH_KEY": {readByWorker, "bearer token of that server"},
	"COACH_WEB_FETCH":      {readByWorker, "`on` lets the coach read pages that a search or the participant named"},
	"COACH_WEB_ALLOW":      {readByBoth, "private `IP:PORT` list that web pages and [webhooks](webhooks.md) may use"},

	accountSID:        {readByBoth, "account of the carrier"},
	authToken:         {readByBoth, "its token; during a rotation two, with a comma; the first sends"},
	from:              {readByBoth, "the sending number, or"},
	messagingService:  {readByBoth, "a messaging service"},
	"TWILIO_BASE_URL": {readByWorker, "another server with Twilio's API"},
	"COACH_SEND_RATE": {readByBoth, "segments a second of all workers, a send counted as two; 0: the carrier paces"},

	"COACH_HTTP_ADDR":          {readByStarterAndCommands, "listening address"},
	"COACH_PUBLIC_URL":         {readByBoth, "public base address of the webhooks; required unless `COACH_HTTP_ADDR` is loopback"},
	"COACH_API_TOKEN":          {readByStarterAndCommands, "bearer token of 32 characters or more; required unless `COACH_HTTP_ADDR` is loopback"},
	"COACH_URL":                {readByCommands, "base address of the API; empty: the current context, or `COACH_HTTP_ADDR`"},
	"COACH_PHONES_URL":         {readByStarter, "page of the simulated phones, for the console's link; set by `make dev`"},
	"COACH_OIDC_ISSUER":        {readByStarter, "[OpenID Connect](operations.md#people-roles-and-tokens) provider where operators may sign in"},
	"COACH_OIDC_CLIENT_ID":     {readByStarter, "client id at the provider"},
	"COACH_OIDC_CLIENT_SECRET": {readByStarter, "client secret at the provider"},
	"COACH_UI_ORIGIN":          {readByStarter, "web origins of the Temporal UI that may open payloads"},
	pricesFile:                 {readByStarter, "path of a JSON file with [prices](#prices); empty: usage is counted without money"},

	"COACH_TEXTS_PER_MINUTE": {readByBoth, "messages of one sender that reach the coach in a minute; 0: all"},
	"COACH_TEXTS_PER_DAY":    {readByBoth, "the same in 24 hours"},
	"COACH_LOOP_MUTE":        {readByBoth, "how long a sender that behaves like a machine is not answered; 0: no mute"},
	"COACH_UNKNOWN_SENDERS":  {readByBoth, "people who are not enrolled get one fixed text a day (`hint`) or nothing (`silent`)"},

	payloadKeys: {readByAll, "list of `keyid:base64` [keys](operations.md#keys) that seal texts and Temporal payloads, the current one first"},

	"COACH_PROGRAMME":           {readByWorker, "name of the programme that people see"},
	"COACH_DEFAULT_TIMEZONE":    {readByBoth, "zone of people without one"},
	"COACH_DEFAULT_REGION":      {readByBoth, "for national numbers, and quiet hours of people without a zone"},
	"COACH_LOCALE":              {readByWorker, "language of people without one (de, en, es, fr or pt, such as `es-MX`); empty: that of the region"},
	"COACH_PREP_TIME":           {readByBoth, "how long before its target a fixed prompt goes out"},
	"COACH_PROMPT_SPREAD":       {readByBoth, "time over which prompts of one minute, greetings and delayed texts are spread; 0: off"},
	"COACH_PROMPT_GRACE":        {readByBoth, "how late a prompt may go out, on its own local date"},
	"COACH_REMINDER_DELAY":      {readByBoth, "from a prompt without an answer to its reminder; 0: off"},
	"COACH_AUTO_FEEDBACK_DELAY": {readByBoth, "from a prompt without an answer to mode `FEEDBACK`; 0: off"},
	"COACH_FEEDBACK_TIMEOUT":    {readByBoth, "silence in `FEEDBACK` before one feedback question; 0: off"},
	"COACH_FEEDBACK_FOLLOWUP":   {readByBoth, "from that question to one follow-up; 0: off"},
	"COACH_CHECK_IN":            {readByBoth, "silence after which the coach considers a [check-in](#check-ins), 5m or more; 0: off"},
	"COACH_CHECK_IN_CAP":        {readByBoth, "check-ins on a local day at most; none in quiet hours or while a prompt waits"},
	"COACH_DEBOUNCE":            {readByBoth, "how long a turn waits for another message; 0: off"},
	"COACH_DEBOUNCE_MAX":        {readByBoth, "how long it waits at most"},
	"COACH_RETENTION":           {readByStarter, "from a removal to the [erasure](operations.md#a-person-asks-for-erasure), such as `8760h`; 0: never"},
	"COACH_LATE_TRY":            {readByBoth, "one to two times this until an undelivered text (30003, 30008) is sent once more; 0: off"},
	quietHours:                  {readByBoth, "local hours without messages that we start, except at a time the person chose; for people in the US without a zone, in every zone there; empty: none"},

	"COACH_PROMPTS_DIR":            {readByBoth, "folder with your own [prompts, playbooks and focuses](#prompts-playbooks-and-focuses)"},
	"COACH_HISTORY_LIMIT":          {readByWorker, "entries of the conversation that the model sees; 0: none, -1: no cap"},
	"COACH_MAX_TURNS":              {readByWorker, "model rounds of a turn"},
	"COACH_MAX_TOOL_CALLS":         {readByWorker, "tool calls of a turn"},
	"COACH_CONTINUE_AS_NEW_EVENTS": {readByWorker, "events after which a run continues as new; 0: the server's suggestion"},
	"COACH_DEPLOYMENT_VERSIONING":  {readByWorker, "how participants [move to a new build](operations.md#rolling-out-a-workflow-change): `off`, `auto`, `pinned`"},
	"COACH_ALERT_URL":              {readByWorker, "where a [crisis](operations.md#texts-that-may-be-a-crisis) pages a person, with ids only; empty: no page"},
	"COACH_ALERT_ESCALATION":       {readByStarter, "until an alert that is not [acknowledged](operations.md#texts-that-may-be-a-crisis) pages once more; 0: never"},
	"COACH_CRISIS_TAKE_OVER":       {readByBoth, "how long an alert [keeps the coach silent](operations.md#take-a-conversation-over); 0: off"},
	"COACH_METRICS_ADDR":           {readByWorker, "private `HOST:PORT` where the worker serves `/metrics` and `/livez` without a token"},

	"COACH_WORKFLOW_POLLERS":     {readByWorker, "polls for workflow tasks of each queue; 0: the server's advice"},
	"COACH_ACTIVITY_POLLERS":     {readByWorker, "the same for activities"},
	"COACH_WORKER_SLOTS":         {readByWorker, "concurrent tasks of each kind and queue; 0: by the next two shares"},
	"COACH_WORKER_CPU":           {readByWorker, "share of the processors, with 0 slots"},
	"COACH_WORKER_MEMORY":        {readByWorker, "share of the memory, with 0 slots"},
	"COACH_WORKFLOW_CACHE":       {readByWorker, "participants kept in a worker's memory, 33 KiB each"},
	"COACH_QUEUES":               {readByWorker, "`one` queue for all tasks (sends apart with `COACH_SEND_RATE`), or `split`: `coach-model` and `coach-sms` apart"},
	"COACH_DATABASE_CONNECTIONS": {readByBoth, "connections of each process; 0: 10 on PostgreSQL, 4 on SQLite"},

	"COACH_LOG_LEVEL": {readByBoth, "`debug`, `info`, `warn`, `error`"},
}
