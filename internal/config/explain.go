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
	readByBoth               reader = "both roles"
	readByCommands           reader = "commands"
	readByStarterAndCommands reader = "starter, commands"
	readByAll                reader = "both roles, commands"
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
	databaseURL: {readByAll, "`postgres://...` or `sqlite:PATH`; `coachline reseal` and `doctor` read it too"},

	"TEMPORAL_ADDRESS":   {readByBoth, "address of the Temporal frontend"},
	"TEMPORAL_NAMESPACE": {readByBoth, "namespace of the participants' workflows"},
	temporalAPIKey:       {readByBoth, "key of Temporal Cloud"},
	"TEMPORAL_TLS*":      {readByBoth, "certificates, as the Temporal SDK names them (`TEMPORAL_TLS_CLIENT_CERT_PATH`, ...)"},
	"TEMPORAL_PROFILE":   {readByBoth, "profile of the Temporal configuration file; variables win over it"},

	"OPENAI_API_KEY":         {readByWorker, "key of the model; not needed where `OPENAI_BASE_URL` is set"},
	"OPENAI_API_KEYS":        {readByWorker, "more keys, divided by commas; all keys are used in turn"},
	"OPENAI_BASE_URL":        {readByWorker, "any OpenAI-compatible server; empty is OpenAI's own. A server that only streams is asked for streams once it has said so"},
	"COACH_MODEL":            {readByWorker, "the chat model"},
	"COACH_SMALL_MODEL":      {readByWorker, "the model that decides, plans and digests; empty is `COACH_MODEL`"},
	"COACH_EMBEDDING_MODEL":  {readByWorker, "the model that turns text into vectors, at the same server"},
	"COACH_TRANSCRIBE_MODEL": {readByBoth, "the model that transcribes voice notes, at the same server; empty: voice notes are not opened"},
	keysFile:                 {readByWorker, "path of a JSON file with keys of the model ([below](#several-keys))"},

	"COACH_MEMORY_STEP":  {readByWorker, "when facts are remembered: `after` the reply (`before` it on the channel `terminal`), `before`, or `off`"},
	"COACH_HOT_WINDOW":   {readByWorker, "how long after its newest entry a conversation goes on; what was looked up within it is not looked up again"},
	"COACH_ROUTER":       {readByWorker, "which tools beyond a mode's own are offered: `all`, or chosen by `keyword`, `embedding` or `model`. `auto` offers up to eight tools whole to models with native tools, chooses by words for other models, and by the small model above eight. Within a conversation the list only grows"},
	"COACH_PLANNER":      {readByWorker, "a plan before the first answer: `on`, `off`, or `auto` by the size of the model"},
	"COACH_DIGESTS":      {readByWorker, "shortened memories: `on`, `off`, or `auto` by the size of the model"},
	"COACH_TOOL_DIGESTS": {readByWorker, "shortened web pages: `on`, `off`, or `auto` by the size of the model"},
	"COACH_SUBAGENTS":    {readByWorker, "`on` lets the model start subagents ([design](design.md#subagents))"},
	"COACH_MESSAGE_TOOL": {readByWorker, "`on` lets the model text the participant in the middle of a turn, twice at most ([design](design.md#a-text-in-the-middle-of-a-turn))"},

	"COACH_WEB_SEARCH_URL": {readByWorker, "JSON endpoint of a SearXNG-compatible server, such as `https://search.example/search?format=json`; empty: no search ([operations](operations.md#the-web))"},
	"COACH_WEB_SEARCH_KEY": {readByWorker, "bearer token of that server"},
	"COACH_WEB_FETCH":      {readByWorker, "`on`: the coach may read pages that a search or the participant named"},
	"COACH_WEB_ALLOW":      {readByWorker, "list of `IP:PORT` that may be read although they are not public"},

	accountSID:        {readByBoth, "account of the carrier; the simulator's in `make dev`"},
	authToken:         {readByBoth, "its token, or two divided by a comma while it is rotated: the first one sends, either one verifies"},
	from:              {readByBoth, "the sending number; or"},
	messagingService:  {readByBoth, "a messaging service instead of a number"},
	"TWILIO_BASE_URL": {readByWorker, "another server with Twilio's API; empty is Twilio's own"},
	"COACH_SEND_RATE": {readByWorker, "segments a second for the sender, kept by Temporal across all workers (a send counts as two segments); 0: the carrier paces"},

	"COACH_HTTP_ADDR":  {readByStarterAndCommands, "listening address"},
	"COACH_PUBLIC_URL": {readByBoth, "public base address of the webhooks; required unless `COACH_HTTP_ADDR` is a loopback address"},
	"COACH_API_TOKEN":  {readByStarterAndCommands, "bearer token of at least 32 characters; required unless `COACH_HTTP_ADDR` is a loopback address"},
	"COACH_URL":        {readByCommands, "base address of the API; empty: the current context, or `COACH_HTTP_ADDR`"},
	"COACH_UI_ORIGIN":  {readByStarter, "web origins of the Temporal UI whose pages may have payloads opened"},

	"COACH_TEXTS_PER_MINUTE": {readByBoth, "messages of one sender that reach the coach in a minute; what is above is kept and not answered; 0: no limit"},
	"COACH_TEXTS_PER_DAY":    {readByBoth, "the same in 24 hours"},
	"COACH_LOOP_MUTE":        {readByBoth, "how long a sender that behaves like a machine is not answered; 0: no sender is muted"},
	"COACH_UNKNOWN_SENDERS":  {readByBoth, "people who are not enrolled get one fixed text a day at most (`hint`) or nothing (`silent`)"},

	payloadKeys: {readByAll, "list `keyid:base64`, the current key first: seals stored texts and Temporal payloads ([operations](operations.md#keys)); a local key file in `make dev`"},

	"COACH_PROGRAMME":           {readByWorker, "the name of the programme that people see"},
	"COACH_DEFAULT_TIMEZONE":    {readByBoth, "zone of people without one: the zone of a place, or `UTC`"},
	"COACH_DEFAULT_REGION":      {readByBoth, "for national numbers, and for the quiet hours of people without a zone; set it outside the US"},
	"COACH_LOCALE":              {readByWorker, "the language that people write in, such as `es-MX`: one that is screened for crisis and opt-out (de, en, es, fr, pt); empty: the main language of `COACH_DEFAULT_REGION`"},
	"COACH_PREP_TIME":           {readByBoth, "how long before its target a fixed prompt goes out"},
	"COACH_PROMPT_SPREAD":       {readByBoth, "prompts of people who chose the same minute are spread over this much of the preparation time, each always at the same second; so are greetings after an enrolment, and what an outage or quiet hours held up; 0: off"},
	"COACH_PROMPT_GRACE":        {readByBoth, "how late a prompt may still go out, on its own local date"},
	"COACH_REMINDER_DELAY":      {readByBoth, "from a prompt without an answer to its reminder; 0: off"},
	"COACH_AUTO_FEEDBACK_DELAY": {readByBoth, "from a prompt without an answer to the mode `FEEDBACK`, in which the next message counts as the report; 0: off"},
	"COACH_FEEDBACK_TIMEOUT":    {readByBoth, "silence in the mode `FEEDBACK` before one feedback question; 0: off"},
	"COACH_FEEDBACK_FOLLOWUP":   {readByBoth, "from that question to one follow-up; 0: off"},
	"COACH_CHECK_IN":            {readByBoth, "how long after the last contact the coach considers writing unasked (5m or more; 0: off) ([operations](operations.md#check-ins))"},
	"COACH_CHECK_IN_CAP":        {readByBoth, "check-ins that a local day may have"},
	"COACH_DEBOUNCE":            {readByBoth, "how long a turn waits for another message of a burst; 0: off"},
	"COACH_DEBOUNCE_MAX":        {readByBoth, "how long it waits at most"},
	"COACH_LATE_TRY":            {readByBoth, "a text that the carrier took and could not deliver (30003, 30008) is tried once more, after this time to twice of it; 0: off"},
	quietHours:                  {readByBoth, "local; nothing that we start, except at a time the person chose. Where the zone is not known and `COACH_DEFAULT_REGION` is `US`: in every zone of the fifty states. Empty: none"},

	"COACH_PROMPTS_DIR":            {readByWorker, "folder whose files override the embedded prompts, and which holds playbooks and focuses ([operations](operations.md#prompts-playbooks-and-focuses))"},
	"COACH_HISTORY_LIMIT":          {readByWorker, "entries of the conversation that the model sees; 0: none, -1: no cap"},
	"COACH_MAX_TURNS":              {readByWorker, "model rounds of a turn"},
	"COACH_MAX_TOOL_CALLS":         {readByWorker, "tool calls of a turn"},
	"COACH_CONTINUE_AS_NEW_EVENTS": {readByWorker, "own cap of a history; 0: the server's suggestion"},
	"COACH_DEPLOYMENT_VERSIONING":  {readByWorker, "how participants move to a new build: `off`, `auto`, `pinned` ([operations](operations.md#rolling-out-a-workflow-change))"},
	"COACH_ALERT_URL":              {readByWorker, "where a person is paged for a message that may be a crisis: a POST of ids, no text, name or number; empty: no page ([operations](operations.md#texts-that-may-be-a-crisis))"},
	"COACH_METRICS_ADDR":           {readByWorker, "`HOST:PORT` where the worker serves `/metrics` and `/livez`, without a token, so keep it in a private network; empty: nowhere. The starter serves its own at `COACH_HTTP_ADDR`"},

	"COACH_WORKFLOW_POLLERS":     {readByWorker, "calls that ask for workflow tasks at a time, for each queue; 0: as many as the server advises"},
	"COACH_ACTIVITY_POLLERS":     {readByWorker, "the same for activities"},
	"COACH_WORKER_SLOTS":         {readByWorker, "tasks of a kind at a time, for each queue; 0: as many as keep the machine below the two shares that follow"},
	"COACH_WORKER_CPU":           {readByWorker, "share of the processors, where slots are 0"},
	"COACH_WORKER_MEMORY":        {readByWorker, "share of the memory, where slots are 0"},
	"COACH_WORKFLOW_CACHE":       {readByWorker, "participants that a worker keeps in memory, about 33 KiB each; the others are replayed when something happens"},
	"COACH_QUEUES":               {readByWorker, "`one`: a turn's activities run on the participant's own queue, and the server returns them with the completed workflow task. `split`: model calls and sends on queues of their own, for fleets of their own. Sends keep theirs with `COACH_SEND_RATE`"},
	"COACH_DATABASE_CONNECTIONS": {readByBoth, "connections of each process; 0: 10 on PostgreSQL, 4 on SQLite"},

	"COACH_LOG_LEVEL": {readByBoth, "`debug`, `info`, `warn`, `error`"},
}
