package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // slim images have no zone files
	"unicode/utf8"

	"coachline/internal/coach"
	"coachline/internal/screening"
	"coachline/models"
)

const (
	from             = "TWILIO_FROM"
	messagingService = "TWILIO_MESSAGING_SERVICE_SID"
	accountSID       = "TWILIO_ACCOUNT_SID"
	authToken        = "TWILIO_AUTH_TOKEN"
	databaseURL      = "DATABASE_URL"
	payloadKeys      = "COACH_PAYLOAD_KEYS"

	maxProgramme = 40
	// leastCheckIn keeps a check-in from being a poll.
	leastCheckIn = 5 * time.Minute
)

var (
	quietForm   = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$`)
	e164        = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	accountForm = regexp.MustCompile(`^AC[0-9A-Za-z]+$`)
	serviceForm = regexp.MustCompile(`^MG[0-9A-Za-z]+$`)
	// tokenForm: twilio-go refuses anything else before it sends.
	tokenForm = regexp.MustCompile(`^[0-9A-Za-z]+$`)
	keyIDForm = regexp.MustCompile(`^[0-9A-Za-z._-]+$`)
)

// check holds the rules for single values and for values that must agree. bad
// names the variables that were refused already.
func (c *Config) check(bad map[string]bool) []error {
	problems := slices.Concat(c.checkDatabase(), c.checkURLs(), c.checkAlert(), c.checkCarrier(),
		c.checkKeys(), c.checkDurations(bad), c.checkNumbers(bad), c.checkTuning(bad), c.checkReplies(bad), c.checkPlace())
	if _, ok := levels[c.Log.Name]; !ok {
		problems = append(problems, refuse("COACH_LOG_LEVEL", c.Log.Name, "debug, info, warn or error"))
	}
	return problems
}

// checkDatabase never shows the value, nor url.Parse's error, which holds it.
func (c *Config) checkDatabase() []error {
	value := c.Database.URL.Reveal()
	if path, ok := strings.CutPrefix(value, "sqlite:"); ok && path != "" {
		return nil
	}
	u, err := url.Parse(value)
	if err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") && u.Host != "" {
		return nil
	}
	return []error{fmt.Errorf("%s: want postgres://USER:PASSWORD@HOST/NAME or sqlite:PATH", databaseURL)}
}

// checkOIDC refuses a provider that is described in part.
func (c *Config) checkOIDC() []error {
	o := c.HTTP.OIDC
	missing := ""
	set := 0
	for _, one := range []struct {
		name string
		set  bool
	}{{"COACH_OIDC_CLIENT_SECRET", o.ClientSecret.IsSet()}, {"COACH_OIDC_CLIENT_ID", o.ClientID != ""}, {"COACH_OIDC_ISSUER", o.Issuer != ""}} {
		if one.set {
			set++
		} else {
			missing = one.name
		}
	}
	if set == 0 || missing == "" {
		return nil
	}
	return []error{fmt.Errorf("%s: not set, and sign-in at an OpenID Connect provider needs issuer, client id and secret", missing)}
}

func (c *Config) checkURLs() []error {
	problems := c.checkOIDC()
	for _, one := range []struct{ name, value string }{
		{"OPENAI_BASE_URL", c.Model.BaseURL},
		{"COACH_EMBEDDING_URL", c.Model.EmbeddingURL},
		{"TWILIO_BASE_URL", c.Carrier.BaseURL},
		{"COACH_PUBLIC_URL", c.HTTP.PublicURL},
		{"COACH_OIDC_ISSUER", c.HTTP.OIDC.Issuer},
	} {
		if one.value != "" && !plainURL(one.value) {
			problems = append(problems, fmt.Errorf(
				"%s: want an http:// or https:// address with a host and without user, query or fragment", one.name))
		}
	}
	for _, origin := range c.HTTP.UIOrigins {
		if u, err := url.Parse(origin); !plainURL(origin) || err != nil || u.Path != "" {
			problems = append(problems, refuse("COACH_UI_ORIGIN", origin, "web origins such as https://temporal.example.org, separated by commas"))
		}
	}
	if !listenAddr(c.HTTP.Addr) {
		problems = append(problems, refuse("COACH_HTTP_ADDR", c.HTTP.Addr, "HOST:PORT, such as 127.0.0.1:8080"))
	}
	if addr := c.Worker.MetricsAddr; addr != "" && !listenAddr(addr) {
		problems = append(problems, refuse("COACH_METRICS_ADDR", addr, "HOST:PORT, such as 127.0.0.1:9090, or empty for none"))
	}
	return problems
}

// checkAlert never shows the value, which may hold a token.
func (c *Config) checkAlert() []error {
	if value := c.Worker.AlertURL.Reveal(); value != "" && !webAddress(value) {
		return []error{errors.New("COACH_ALERT_URL: want an http:// or https:// address with a host")}
	}
	return nil
}

func plainURL(value string) bool {
	u, err := url.Parse(value)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.User == nil && !strings.ContainsAny(value, "?#")
}

// webAddress also takes a user and a query, where such addresses hold a token.
func webAddress(value string) bool {
	u, err := url.Parse(value)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

func listenAddr(value string) bool {
	_, port, err := net.SplitHostPort(value)
	if err != nil {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= math.MaxUint16
}

func (c *Config) checkCarrier() []error {
	var problems []error
	k := c.Carrier
	if k.AccountSID != "" && !accountForm.MatchString(k.AccountSID) {
		problems = append(problems, refuse(accountSID, k.AccountSID, "AC followed by letters and digits"))
	}
	if k.AuthTokens.Len() > 2 {
		problems = append(problems, fmt.Errorf("%s: want one token, or two while rotating; got %d", authToken, k.AuthTokens.Len()))
	}
	for _, token := range k.AuthTokens.Reveal() {
		if !tokenForm.MatchString(token) {
			problems = append(problems, fmt.Errorf("%s: want letters and digits only", authToken))
			break
		}
	}
	if k.From != "" && k.MessagingServiceSID != "" {
		problems = append(problems, fmt.Errorf("%s: set either %s or %s, not both", from, from, messagingService))
	}
	if k.From != "" && !e164.MatchString(k.From) {
		problems = append(problems, refuse(from, k.From, "a number with + and country code, such as +15550100001"))
	}
	if k.MessagingServiceSID != "" && !serviceForm.MatchString(k.MessagingServiceSID) {
		problems = append(problems, refuse(messagingService, k.MessagingServiceSID, "MG followed by letters and digits"))
	}
	return problems
}

// checkKeys looks at the shape only; package seal builds the keys.
func (c *Config) checkKeys() []error {
	if !c.Payload.Keys.IsSet() {
		return nil
	}
	for entry := range strings.SplitSeq(c.Payload.Keys.Reveal(), ",") {
		id, encoded, ok := strings.Cut(strings.TrimSpace(entry), ":")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) != 32 || !keyIDForm.MatchString(id) {
			return []error{fmt.Errorf("%s: want a comma list of NAME:BASE64 with 32 bytes each; %s", payloadKeys, makeKey)}
		}
	}
	return nil
}

const makeKey = `make one with: echo "k1:$(openssl rand -base64 32)"`

func (c *Config) checkDurations(bad map[string]bool) []error {
	var problems []error
	c.Coaching.ReminderDelay = max(c.Coaching.ReminderDelay, 0) // Less than 0 is off, too.
	r := c.Coaching
	for _, one := range []struct {
		name  string
		value time.Duration
	}{
		{"COACH_PREP_TIME", r.PrepTime},
		{"COACH_PROMPT_SPREAD", r.PromptSpread},
		{"COACH_PROMPT_GRACE", r.PromptGrace},
		{"COACH_REMINDER_DELAY", r.ReminderDelay},
		{"COACH_AUTO_FEEDBACK_DELAY", r.AutoFeedbackDelay},
		{"COACH_FEEDBACK_TIMEOUT", r.FeedbackTimeout},
		{"COACH_FEEDBACK_FOLLOWUP", r.FeedbackFollowup},
		{"COACH_CHECK_IN", r.CheckIn},
		{"COACH_DEBOUNCE", r.Debounce},
		{"COACH_DEBOUNCE_MAX", r.DebounceMax},
		{"COACH_LATE_TRY", r.LateTry},
		{"COACH_REASSIGNED_AFTER", r.ReassignedAfter},
		{"COACH_RETENTION", r.Retention},
		{"COACH_STRANGER_RETENTION", r.StrangerRetention},
		{"COACH_LOOP_MUTE", c.Inbound.LoopMute},
		{"COACH_ALERT_ESCALATION", c.Worker.AlertEscalation},
		{"COACH_CRISIS_TAKE_OVER", c.Worker.CrisisTakeOver},
	} {
		if one.value < 0 {
			bad[one.name] = true
			problems = append(problems, refuse(one.name, one.value.String(), "a duration of 0 (off) or more"))
		}
	}
	if r.CheckIn > 0 && r.CheckIn < leastCheckIn {
		problems = append(problems, refuse("COACH_CHECK_IN", r.CheckIn.String(), "0 (off), or a duration of 5m or more"))
	}
	unread := bad["COACH_DEBOUNCE"] || bad["COACH_DEBOUNCE_MAX"]
	if !unread && r.DebounceMax < r.Debounce {
		problems = append(problems, refuse("COACH_DEBOUNCE_MAX", r.DebounceMax.String(),
			"at least COACH_DEBOUNCE, which is "+r.Debounce.String()))
	}
	return problems
}

// leastModelTimeout is the shortest wait that a model can be given.
const leastModelTimeout = 5 * time.Second

func (c *Config) checkNumbers(bad map[string]bool) []error {
	var problems []error
	feedbackHistory := -1
	if own := c.Worker.FeedbackHistory; own != nil {
		feedbackHistory = *own
	}
	for _, one := range []struct {
		name         string
		value, least int
	}{
		{"COACH_HISTORY_LIMIT", c.Worker.HistoryLimit, -1},
		{"COACH_FEEDBACK_HISTORY_LIMIT", feedbackHistory, -1},
		{"COACH_MAX_TURNS", c.Worker.MaxTurns, 1},
		{"COACH_MAX_TOOL_CALLS", c.Worker.MaxToolCalls, 1},
		{"COACH_CONTINUE_AS_NEW_EVENTS", c.Worker.ContinueAsNewEvents, 0},
		{"COACH_CONTEXT_TOKENS", c.Model.ContextTokens, 0},
		{"COACH_ANSWER_TOKENS", c.Model.AnswerTokens, 0},
		{"COACH_MAX_INITIATED_PER_DAY", c.Coaching.MaxInitiated, 0},
		{"COACH_TEXTS_PER_MINUTE", c.Inbound.TextsPerMinute, 0},
		{"COACH_TEXTS_PER_DAY", c.Inbound.TextsPerDay, 0},
		{"COACH_WORKFLOW_CACHE", c.Tuning.WorkflowCache, 0},
		{"COACH_DATABASE_CONNECTIONS", c.Tuning.DatabaseConns, 0},
	} {
		if !bad[one.name] && one.value < one.least {
			problems = append(problems, refuse(one.name, strconv.Itoa(one.value), fmt.Sprintf("a whole number of %d or more", one.least)))
		}
	}
	if wait := c.Model.Timeout; !bad["COACH_MODEL_TIMEOUT"] && (wait < leastModelTimeout || wait > models.LongestModelTimeout) {
		problems = append(problems, refuse("COACH_MODEL_TIMEOUT", wait.String(), "a duration of 5s to 10m"))
	}
	problems = append(problems, c.checkWords()...)
	for name, limit := range map[string]float64{turnLimit: c.Costs.TurnLimit, personDayLimit: c.Costs.PersonDayLimit, strangerHourLimit: c.Costs.StrangerHourLimit} {
		if math.IsNaN(limit) || math.IsInf(limit, 0) || limit < 0 {
			problems = append(problems, refuse(name, fmt.Sprint(limit), "an amount of 0 or more"))
		}
	}
	rate := c.Carrier.SendRate
	if math.IsNaN(rate) || math.IsInf(rate, 0) || rate < 0 {
		problems = append(problems, refuse("COACH_SEND_RATE", fmt.Sprint(rate), "segments a second, 0 or more"))
	}
	return problems
}

// checkWords refuses other words than those that a setting may have.
func (c *Config) checkWords() []error {
	var problems []error
	for _, one := range []struct {
		name, value string
		words       []string
	}{
		{"COACH_DEPLOYMENT_VERSIONING", string(c.Worker.Versioning), []string{string(VersioningOff), string(VersioningAuto), string(VersioningPinned)}},
		{"COACH_ADDRESS", string(c.Coaching.Address), []string{string(AddressInformal), string(AddressFormal)}},
		{"COACH_STOP_ANSWERED_BY", string(c.Inbound.StopAnswer), []string{string(StopByUs), string(StopByCarrier)}},
		{"COACH_UNKNOWN_SENDERS", string(c.Inbound.UnknownSenders), []string{string(UnknownHint), string(UnknownSilent)}},
	} {
		if last := len(one.words) - 1; !slices.Contains(one.words, one.value) {
			problems = append(problems, refuse(one.name, one.value, strings.Join(one.words[:last], ", ")+" or "+one.words[last]))
		}
	}
	return problems
}

// checkTuning refuses 1 where a worker needs one for the queue and one for the
// participants that it has in memory.
func (c *Config) checkTuning(bad map[string]bool) []error {
	var problems []error
	for _, one := range []struct {
		name  string
		value int
	}{
		{"COACH_WORKFLOW_POLLERS", c.Tuning.WorkflowPollers},
		{"COACH_ACTIVITY_POLLERS", c.Tuning.ActivityPollers},
		{"COACH_WORKER_SLOTS", c.Tuning.Slots},
	} {
		if !bad[one.name] && (one.value < 0 || one.value == 1) {
			problems = append(problems, refuse(one.name, strconv.Itoa(one.value), "a whole number of 2 or more, or 0 for as many as are of use"))
		}
	}
	if queues := c.Tuning.Queues; queues != QueuesOne && queues != QueuesSplit {
		problems = append(problems, refuse("COACH_QUEUES", string(queues), "one or split"))
	}
	return problems
}

func (c *Config) checkPlace() []error {
	var problems []error
	// The name stands in every first text, where it shares 160 characters.
	name := c.Coaching.Programme
	if utf8.RuneCountInString(name) > maxProgramme || models.CheckText("COACH_PROGRAMME", name, false) != nil {
		problems = append(problems, refuse("COACH_PROGRAMME", name, fmt.Sprintf("a name of at most %d characters in one line", maxProgramme)))
	}
	zone := c.Coaching.DefaultTimezone
	// LoadLocation accepts "" and "Local", which mean this machine's zone and
	// nothing to a participant.
	if err := coach.CheckZoneName(zone, time.LoadLocation); err != nil {
		problems = append(problems, refuse("COACH_DEFAULT_TIMEZONE", zone, "a zone name of a place such as America/New_York, or UTC"))
	}
	if !slices.Contains(strings.Fields(regions), c.Coaching.DefaultRegion) {
		problems = append(problems, refuse("COACH_DEFAULT_REGION", c.Coaching.DefaultRegion, "a two-letter region such as US or GB"))
	} else if err := c.Coaching.checkLocale(); err != nil {
		problems = append(problems, err)
	}
	if quiet := c.Coaching.QuietHours; quiet != "" && !quietForm.MatchString(quiet) {
		problems = append(problems, refuse(quietHours, quiet, "HH:MM-HH:MM such as 21:00-08:00, or empty for none"))
	}
	return problems
}

// checkLocale refuses a language whose messages nothing screens.
func (c Coaching) checkLocale() error {
	if screening.HasRules(c.DefaultLocale()) {
		return nil
	}
	return refuse("COACH_LOCALE", c.Locale, "the language that people write in, one of those screened for crisis and opt-out ("+
		strings.Join(screening.Languages(), ", ")+"), such as es-MX; without it the main language of COACH_DEFAULT_REGION counts, which is "+c.DefaultRegion)
}

// Role is a part of the system that a process may play.
type Role string

const (
	// RoleWorker runs workflows and activities.
	RoleWorker Role = "worker"
	// RoleStarter serves the API and the carrier's webhooks.
	RoleStarter Role = "starter"
)

// Validate reports what the role needs and the environment does not give, all
// of it in one joined error. Nil means that the role can start.
func (c Config) Validate(role Role) error {
	problems := c.needShared(role)
	switch role {
	case RoleWorker:
		problems = append(problems, c.needWorker()...)
	case RoleStarter:
		problems = append(problems, c.needStarter()...)
	default:
		problems = append(problems, fmt.Errorf("unknown role %q", role))
	}
	return errors.Join(problems...)
}

func (c Config) needShared(role Role) []error {
	var problems []error
	if !c.Database.URL.IsSet() {
		problems = append(problems, missing(databaseURL, role, "postgres://... or sqlite:PATH"))
	}
	if !c.Payload.Keys.IsSet() {
		problems = append(problems, missing(payloadKeys, role, makeKey))
	}
	if c.Carrier.AccountSID == "" {
		problems = append(problems, missing(accountSID, role, "the account's SID, AC..."))
	}
	if c.Carrier.AuthTokens.Len() == 0 {
		problems = append(problems, missing(authToken, role, "the account's auth token"))
	}
	return problems
}

func (c Config) needWorker() []error {
	var problems []error
	// A server of one's own may want no key; OpenAI's always does.
	if len(c.Model.Keys()) == 0 && c.Model.BaseURL == "" {
		problems = append(problems, missing("OPENAI_API_KEY", RoleWorker, "a key, "+keysFile+" for several, or OPENAI_BASE_URL for a server that needs none"))
	}
	if c.Carrier.From == "" && c.Carrier.MessagingServiceSID == "" {
		problems = append(problems, missing(from, RoleWorker, "the sending number, or "+messagingService))
	}
	return problems
}

// MinTokenLength is the least length of the API token in characters.
const MinTokenLength = 32

func (c Config) needStarter() []error {
	var problems []error
	if token := c.HTTP.APIToken.Reveal(); token != "" && len(token) < MinTokenLength {
		problems = append(problems, fmt.Errorf("COACH_API_TOKEN: shorter than %d characters: make one with: openssl rand -hex 32", MinTokenLength))
	}
	if c.HTTP.Loopback() {
		return problems
	}
	if !c.HTTP.APIToken.IsSet() {
		problems = append(problems, missing("COACH_API_TOKEN", RoleStarter,
			"a bearer token, because COACH_HTTP_ADDR "+c.HTTP.Addr+" is not a loopback address"))
	}
	if c.HTTP.PublicURL == "" {
		problems = append(problems, missing("COACH_PUBLIC_URL", RoleStarter,
			"the public base address of the webhooks, which the carrier's signatures cover"))
	}
	return problems
}

func missing(name string, role Role, want string) error {
	return fmt.Errorf("%s: not set, and the %s needs it: %s", name, role, want)
}
