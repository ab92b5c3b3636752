// Package config is the only reader of the environment: one typed tree, checked
// once at start-up, printable without its secrets.
package config

import (
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"time"

	"coachline/internal/helplines"
	"coachline/internal/prices"
	"coachline/models"
)

// Config is everything the program may be told from outside. Load fills it;
// the zero value is not usable.
type Config struct {
	Database Database
	Temporal Temporal
	Model    Model
	Replies  Replies
	Web      Web
	Carrier  Carrier
	HTTP     HTTP
	Inbound  Inbound
	Payload  Payload
	Costs    Costs
	Coaching Coaching
	Worker   Worker
	Tuning   Tuning
	Log      Log

	settings []Setting
}

// Database says where rows are kept.
type Database struct {
	// URL is postgres://... or sqlite:PATH; secret because it may hold a password.
	URL Secret `env:"DATABASE_URL" envDefault:"sqlite:.coachline/coachline.db" show:"url"`
}

// Model is the OpenAI-compatible server that writes replies.
type Model struct {
	Key      Secret  `env:"OPENAI_API_KEY"`
	MoreKeys Secrets `env:"OPENAI_API_KEYS"`
	// BaseURL is empty for OpenAI's own.
	BaseURL string `env:"OPENAI_BASE_URL"`
	Name    string `env:"COACH_MODEL" envDefault:"gpt-4.1-mini"`
	// Small decides, plans and digests; it is Name where nothing is set.
	Small string `env:"COACH_SMALL_MODEL"`
	// Size and ContextTokens say what Name is; auto and 0 ask the server and go by the
	// name.
	Size          ModelSize `env:"COACH_MODEL_SIZE" envDefault:"auto"`
	ContextTokens int       `env:"COACH_CONTEXT_TOKENS" envDefault:"0"`
	// Protocol is how tools are offered; auto goes by name and by what was learnt.
	Protocol Protocol `env:"COACH_PROTOCOL" envDefault:"auto"`
	// AnswerTokens are kept of the context for an answer; 0 goes by the name.
	AnswerTokens int `env:"COACH_ANSWER_TOKENS" envDefault:"0"`
	// Timeout bounds one answer of the model; what else a reply waits for has its share.
	Timeout   time.Duration `env:"COACH_MODEL_TIMEOUT" envDefault:"60s"`
	Embedding string        `env:"COACH_EMBEDDING_MODEL" envDefault:"text-embedding-3-small"`
	// EmbeddingURL is the server of Embedding where it is another than BaseURL, and
	// EmbeddingKey its key; it may need none.
	EmbeddingURL string `env:"COACH_EMBEDDING_URL"`
	EmbeddingKey Secret `env:"COACH_EMBEDDING_KEY"`
	// Transcribe writes voice notes down; empty leaves them unopened.
	Transcribe string `env:"COACH_TRANSCRIBE_MODEL"`
	// KeysFile is the path of a JSON file with more keys; Load reads them into
	// FileKeys, and their quota groups, empty for none, into FileGroups.
	KeysFile   string `env:"COACH_KEYS_FILE"`
	FileKeys   Secrets
	FileGroups []string
	// SecondFile is the path of a JSON file about a second server, which Load reads into
	// Second; without one that is nil.
	SecondFile string `env:"COACH_SECOND_MODEL_FILE"`
	Second     *SecondModel
}

// Endpoint names the server without what else its address may hold; what is learnt
// of models is kept by it.
func (m Model) Endpoint() string {
	address, err := url.Parse(m.BaseURL)
	if err != nil {
		return ""
	}
	return address.Host + address.Path
}

// ModelSize is the class of a chat model: small, large, or left to the program.
type ModelSize string

// Forced is empty where the size is left to the program.
func (s ModelSize) Forced() models.ModelSize {
	if s == "auto" {
		return ""
	}
	return models.ModelSize(s)
}

// Protocol is how tools are offered to a chat model: native, text, two_phase, or left to
// the program.
type Protocol string

// Forced is empty where the protocol is left to the program.
func (p Protocol) Forced() models.Protocol {
	if p == "auto" {
		return ""
	}
	return models.Protocol(p)
}

// Carrier is the Twilio account, or a server shaped like Twilio.
type Carrier struct {
	AccountSID string `env:"TWILIO_ACCOUNT_SID"`
	// AuthTokens holds one token, or two while rotating; the first one sends,
	// either one verifies a webhook.
	AuthTokens          Secrets `env:"TWILIO_AUTH_TOKEN"`
	From                string  `env:"TWILIO_FROM"`
	MessagingServiceSID string  `env:"TWILIO_MESSAGING_SERVICE_SID"`
	// BaseURL is empty for Twilio's own.
	BaseURL string `env:"TWILIO_BASE_URL"`
	// SendRate is in segments a second for each sender; 0 leaves pacing to the
	// carrier's queue.
	SendRate float64 `env:"COACH_SEND_RATE" envDefault:"0"`
}

// HTTP is the starter's server.
type HTTP struct {
	Addr string `env:"COACH_HTTP_ADDR" envDefault:"127.0.0.1:8080"`
	// PublicURL is the public base of the webhook URLs, without a trailing
	// slash; empty when the carrier cannot reach us.
	PublicURL string `env:"COACH_PUBLIC_URL"`
	APIToken  Secret `env:"COACH_API_TOKEN"`
	// ClientURL is the base address that operators' commands go to; empty for the
	// address that this configuration listens on.
	ClientURL string `env:"COACH_URL"`
	// UIOrigins are the web origins of the Temporal UI, whose pages may ask
	// the codec endpoint to open payloads.
	UIOrigins []string `env:"COACH_UI_ORIGIN"`
	// PhonesURL is the page of the simulated phones, for the console's link; empty
	// where there are none.
	PhonesURL string `env:"COACH_PHONES_URL"`
	// TrustedProxies lists networks (CIDR) of proxies whose
	// X-Forwarded-For says who the client is.
	TrustedProxies []netip.Prefix `env:"COACH_TRUSTED_PROXIES"`
	// OIDC is where operators may sign in besides with passwords; an empty Issuer
	// is nowhere.
	OIDC OIDC
}

// OIDC is a provider of OpenID Connect and how it knows us.
type OIDC struct {
	Issuer       string `env:"COACH_OIDC_ISSUER"`
	ClientID     string `env:"COACH_OIDC_CLIENT_ID"`
	ClientSecret Secret `env:"COACH_OIDC_CLIENT_SECRET"`
}

// Loopback reports whether Addr can be reached from this machine only.
func (h HTTP) Loopback() bool {
	host, _, err := net.SplitHostPort(h.Addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Inbound bounds what the starter takes from one sender.
type Inbound struct {
	// TextsPerMinute and TextsPerDay reach the coach at most; 0 is no bound.
	TextsPerMinute int `env:"COACH_TEXTS_PER_MINUTE" envDefault:"30"`
	TextsPerDay    int `env:"COACH_TEXTS_PER_DAY" envDefault:"300"`
	// LoopMute is how long a sender that behaves like a machine gets no answer;
	// 0 takes no sender for one.
	LoopMute time.Duration `env:"COACH_LOOP_MUTE" envDefault:"1h"`
	// UnknownSenders says what people get who are not enrolled.
	UnknownSenders UnknownSenders `env:"COACH_UNKNOWN_SENDERS" envDefault:"hint"`
	// StopAnswer says who answers STOP, START and HELP.
	StopAnswer StopAnswer `env:"COACH_STOP_ANSWERED_BY" envDefault:"coach"`
}

// StopAnswer is who answers STOP, START and HELP.
type StopAnswer string

const (
	// StopByUs: the carrier passes them on and answers none.
	StopByUs StopAnswer = "coach"
	// StopByCarrier: the carrier answers them, as Twilio does unless told otherwise.
	StopByCarrier StopAnswer = "carrier"
)

// UnknownSenders is a policy for texts of people who are not enrolled.
type UnknownSenders string

const (
	// UnknownHint answers with one fixed text a sender and day at most.
	UnknownHint UnknownSenders = "hint"
	// UnknownSilent answers nothing.
	UnknownSilent UnknownSenders = "silent"
)

// Costs says what models and carriers charge.
type Costs struct {
	// PricesFile is the path of a JSON file; Load reads it into Prices, which is
	// nil where none is named.
	PricesFile string `env:"COACH_PRICES_FILE"`
	Prices     *prices.List
	// TurnLimit, PersonDayLimit and StrangerHourLimit are what the model may cost in a
	// turn and for a person on a day, and texts to strangers in an hour, in the currency
	// of Prices, without which none counts; 0 is no limit.
	TurnLimit         float64 `env:"COACH_TURN_LIMIT" envDefault:"0.10"`
	PersonDayLimit    float64 `env:"COACH_PERSON_DAY_LIMIT" envDefault:"2"`
	StrangerHourLimit float64 `env:"COACH_STRANGER_HOUR_LIMIT" envDefault:"5"`
}

// million is how many millionths the unit of a currency has.
const million = 1_000_000

// LimitMicros returns a limit in millionths of the currency; 0 where nothing is priced.
func (c Costs) LimitMicros(limit float64) int64 {
	if c.Prices == nil {
		return 0
	}
	return int64(math.Round(limit * million))
}

// Payload holds the keys that encrypt Temporal payloads and stored texts.
type Payload struct {
	// Keys is a list "keyid:base64,...", the current key first.
	Keys Secret `env:"COACH_PAYLOAD_KEYS"`
}

// Coaching names the programme and holds its rules; every duration may be 0,
// which turns the thing off.
type Coaching struct {
	// Programme is the name that texts and the coach give the programme.
	Programme       string `env:"COACH_PROGRAMME" envDefault:"Coachline"`
	DefaultTimezone string `env:"COACH_DEFAULT_TIMEZONE" envDefault:"UTC"`
	DefaultRegion   string `env:"COACH_DEFAULT_REGION" envDefault:"US"`
	// Locale is the language that people write in, such as es-MX; empty is the
	// main language of DefaultRegion.
	Locale   string        `env:"COACH_LOCALE"`
	PrepTime time.Duration `env:"COACH_PREP_TIME" envDefault:"10m"`
	// PromptSpread spreads the prompts of people who chose the same minute, and
	// what an outage or quiet hours held up.
	PromptSpread      time.Duration `env:"COACH_PROMPT_SPREAD" envDefault:"10m"`
	PromptGrace       time.Duration `env:"COACH_PROMPT_GRACE" envDefault:"2h"`
	ReminderDelay     time.Duration `env:"COACH_REMINDER_DELAY" envDefault:"5h"`
	AutoFeedbackDelay time.Duration `env:"COACH_AUTO_FEEDBACK_DELAY" envDefault:"5m"`
	FeedbackTimeout   time.Duration `env:"COACH_FEEDBACK_TIMEOUT" envDefault:"15m"`
	FeedbackFollowup  time.Duration `env:"COACH_FEEDBACK_FOLLOWUP" envDefault:"3h"`
	// CheckIn: from the last contact to the look whether to write.
	CheckIn time.Duration `env:"COACH_CHECK_IN" envDefault:"0"`
	// Support is where people reach a person of the team; HELP says it.
	Support string `env:"COACH_SUPPORT"`
	// TermsURL is the address of terms and privacy policy; HELP and the opt-in texts say it.
	TermsURL string `env:"COACH_TERMS_URL"`
	// Address is how people are addressed in languages that have two ways.
	Address Address `env:"COACH_ADDRESS" envDefault:"informal"`
	// MaxInitiated bounds what we start on a local day of a person; 0: nothing does.
	MaxInitiated int           `env:"COACH_MAX_INITIATED_PER_DAY" envDefault:"2"`
	Debounce     time.Duration `env:"COACH_DEBOUNCE" envDefault:"2s"`
	DebounceMax  time.Duration `env:"COACH_DEBOUNCE_MAX" envDefault:"15s"`
	// LateTry is the least time until a text that did not arrive is tried again.
	LateTry time.Duration `env:"COACH_LATE_TRY" envDefault:"30m"`
	// ReassignedAfter is the silence of a person after which the carrier is asked, before
	// what we start, whether the number has gone to another person; 0 never asks.
	ReassignedAfter time.Duration `env:"COACH_REASSIGNED_AFTER" envDefault:"0"`
	// Retention is how long after their removal people are erased; 0 is never.
	Retention time.Duration `env:"COACH_RETENTION" envDefault:"0"`
	// StrangerRetention is how long texts of people who were never enrolled are kept; 0
	// is for ever.
	StrangerRetention time.Duration `env:"COACH_STRANGER_RETENTION" envDefault:"720h"`
	// QuietHours is "HH:MM-HH:MM" in the participant's zone; empty is none.
	QuietHours string `env:"COACH_QUIET_HOURS" envDefault:"21:00-08:00"`
}

// DefaultLocale is the locale of people of whom none is known: Locale, or that of
// the region's main language.
func (c Coaching) DefaultLocale() string {
	if c.Locale != "" {
		return c.Locale
	}
	return "und-" + c.DefaultRegion
}

// Worker bounds a turn and a run of the workflow.
type Worker struct {
	// PromptsDir overrides embedded prompts; empty uses the embedded ones.
	PromptsDir   string `env:"COACH_PROMPTS_DIR"`
	HistoryLimit int    `env:"COACH_HISTORY_LIMIT" envDefault:"30"`
	// FeedbackHistory takes its place in mode FEEDBACK; nil is the same.
	FeedbackHistory *int `env:"COACH_FEEDBACK_HISTORY_LIMIT"`
	MaxTurns        int  `env:"COACH_MAX_TURNS" envDefault:"8"`
	MaxToolCalls    int  `env:"COACH_MAX_TOOL_CALLS" envDefault:"5"`
	// ContinueAsNewEvents is our own cap; 0 follows the server's suggestion.
	ContinueAsNewEvents int `env:"COACH_CONTINUE_AS_NEW_EVENTS" envDefault:"0"`
	// Versioning says how participants move from one build to the next.
	Versioning Versioning `env:"COACH_DEPLOYMENT_VERSIONING" envDefault:"auto"`
	// Deployment and BuildID name the worker's version to Temporal, under the names that
	// Temporal's own worker controller sets. Without a BuildID the program's own is taken.
	Deployment string `env:"TEMPORAL_DEPLOYMENT_NAME" envDefault:"coachline"`
	BuildID    string `env:"TEMPORAL_WORKER_BUILD_ID"`
	// AlertURL takes the pages for texts that may be a crisis; secret because
	// such addresses hold tokens. Empty sends no pages.
	AlertURL Secret `env:"COACH_ALERT_URL"`
	// AlertWords says whether a page has the words of the message that were recognised.
	AlertWords Switch `env:"COACH_ALERT_WORDS" envDefault:"on"`
	// AlertEscalation is after how long an alert that no operator has acknowledged
	// pages once more, and CrisisTakeOver how long an alert keeps the coach silent;
	// 0 is off.
	AlertEscalation time.Duration `env:"COACH_ALERT_ESCALATION" envDefault:"15m"`
	CrisisTakeOver  time.Duration `env:"COACH_CRISIS_TAKE_OVER" envDefault:"0"`
	// SecondLook says whether the small model reads a weak sign of danger once more
	// before anything is answered.
	SecondLook Switch `env:"COACH_SECOND_LOOK" envDefault:"on"`
	// HelplinesFile is the path of a table whose countries replace those of the
	// programme's own numbers for people in danger; Load reads it into Helplines, which is
	// nil without one.
	HelplinesFile string `env:"COACH_HELPLINES_FILE"`
	Helplines     *helplines.Table
	// MetricsAddr is where the worker serves its metrics; empty is nowhere.
	MetricsAddr string `env:"COACH_METRICS_ADDR"`
	// Profiles says whether the worker serves profiles of the process there.
	Profiles Switch `env:"COACH_PROFILES" envDefault:"off"`
}

// Tuning is what a machine's size decides. The presets are those that did best
// on two cores (docs/performance.md).
type Tuning struct {
	// WorkflowPollers and ActivityPollers are how many calls ask for tasks at a
	// time, for each queue; 0 leaves it to the server's advice.
	WorkflowPollers int `env:"COACH_WORKFLOW_POLLERS" envDefault:"10"`
	ActivityPollers int `env:"COACH_ACTIVITY_POLLERS" envDefault:"2"`
	// Slots is how many tasks of a kind a worker runs at a time for each queue; 0
	// takes more as long as the machine allows.
	Slots int `env:"COACH_WORKER_SLOTS" envDefault:"1000"`
	// WorkflowCache is how many participants a worker keeps in memory, some 33
	// KiB each; the others are replayed when something happens.
	WorkflowCache int `env:"COACH_WORKFLOW_CACHE" envDefault:"10000"`
	// Queues says where the activities of a turn run.
	Queues Queues `env:"COACH_QUEUES" envDefault:"one"`
	// DatabaseConns bounds the connections of each process; 0 is 10 on
	// PostgreSQL and 4 on SQLite.
	DatabaseConns int `env:"COACH_DATABASE_CONNECTIONS" envDefault:"0"`
}

// Queues is how a workflow's activities are divided among task queues.
type Queues string

const (
	// QueuesOne runs them on the workflow's own queue, so that the server returns
	// them with the completed workflow task. Sends keep their own queue when
	// SendRate is set.
	QueuesOne Queues = "one"
	// QueuesSplit runs model calls and sends on queues of their own, for fleets
	// of their own.
	QueuesSplit Queues = "split"
)

// Address is how people are addressed.
type Address string

// The two ways.
const (
	AddressInformal Address = "informal"
	AddressFormal   Address = "formal"
)

// Versioning is the worker's part in Temporal's worker deployments.
type Versioning string

const (
	// VersioningOff lets any worker take any task.
	VersioningOff Versioning = "off"
	// VersioningAuto moves every run to the current build with its next task.
	VersioningAuto Versioning = "auto"
	// VersioningPinned keeps a run of the workflow on the build it began on;
	// an operator says which build the next runs begin on.
	VersioningPinned Versioning = "pinned"
)

// Log says how much the program tells.
type Log struct {
	// Name is debug, info, warn or error.
	Name string `env:"COACH_LOG_LEVEL" envDefault:"info"`
}

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// Level is the threshold for slog.
func (l Log) Level() slog.Level { return levels[l.Name] }
