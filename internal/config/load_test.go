package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nyaruka/phonenumbers"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const goodKeys = "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func TestDefaults(t *testing.T) {
	cfg, err := Load(nil, nil)
	require.NoError(t, err)
	require.Equal(t, "sqlite:.coachline/coachline.db", cfg.Database.URL.Reveal())
	require.Equal(t, "127.0.0.1:8080", cfg.HTTP.Addr)
	require.True(t, cfg.HTTP.Loopback())
	require.Equal(t, Coaching{
		Programme: "Coachline", DefaultTimezone: "UTC", DefaultRegion: "US",
		PrepTime: 10 * time.Minute, PromptSpread: 10 * time.Minute, PromptGrace: 2 * time.Hour, ReminderDelay: 5 * time.Hour,
		AutoFeedbackDelay: 5 * time.Minute, FeedbackTimeout: 15 * time.Minute, FeedbackFollowup: 3 * time.Hour,
		MaxInitiated: 2, Address: AddressInformal, StrangerRetention: 30 * 24 * time.Hour, Debounce: 2 * time.Second, DebounceMax: 15 * time.Second, LateTry: 30 * time.Minute, QuietHours: "21:00-08:00",
	}, cfg.Coaching)
	require.Equal(t, Inbound{TextsPerMinute: 30, TextsPerDay: 300, LoopMute: time.Hour, UnknownSenders: UnknownHint, StopAnswer: StopByUs}, cfg.Inbound)
	require.Equal(t, Worker{HistoryLimit: 30, MaxTurns: 8, MaxToolCalls: 5, Versioning: VersioningAuto, Deployment: "coachline", AlertWords: SwitchOn, AlertEscalation: 15 * time.Minute, SecondLook: SwitchOn, Profiles: SwitchOff}, cfg.Worker)
	require.Equal(t, Tuning{WorkflowPollers: 10, ActivityPollers: 2, Slots: 1000, WorkflowCache: 10000, Queues: QueuesOne}, cfg.Tuning)
	require.Equal(t, []string{"gpt-4.1-mini", "gpt-4.1-mini", "text-embedding-3-small"},
		[]string{cfg.Model.Name, cfg.Model.Small, cfg.Model.Embedding})
	require.Equal(t, "localhost:7233", cfg.Temporal.Address)
	require.Equal(t, "default", cfg.Temporal.Options().Namespace)
	require.Equal(t, "INFO", cfg.Log.Level().String())
	require.Equal(t, Web{Fetch: SwitchOff}, cfg.Web)
	require.Equal(t, SwitchOff, cfg.Replies.ToolDigests)
	require.Equal(t, SwitchOff, cfg.Replies.MessageTool)
}

func TestEverySettingIsRead(t *testing.T) {
	cfg, err := Load([]string{
		"DATABASE_URL=postgres://coach:pw@db:5432/coach?sslmode=require",
		"OPENAI_API_KEY=sk-one", "OPENAI_API_KEYS=sk-two, sk-one ,", "OPENAI_BASE_URL=http://model:9000/v1", "COACH_MODEL=m1",
		"COACH_SMALL_MODEL=s1", "COACH_EMBEDDING_MODEL=e1", "COACH_MODEL_TIMEOUT=3m",
		"TWILIO_ACCOUNT_SID=AC123", "TWILIO_AUTH_TOKEN=aaa,bbb", "TWILIO_FROM=+15017122661", "TWILIO_BASE_URL=http://127.0.0.1:8090",
		"COACH_HTTP_ADDR=0.0.0.0:80", "COACH_PUBLIC_URL=https://coach.example.org/app/", "COACH_API_TOKEN=token-of-thirty-two-characters-00",
		"COACH_PAYLOAD_KEYS=" + goodKeys, "COACH_PROMPTS_DIR=/etc/prompts",
		"COACH_PROGRAMME=Steps", "COACH_DEFAULT_TIMEZONE=Europe/London", "COACH_DEFAULT_REGION=gb",
		"COACH_PREP_TIME=0", "COACH_PROMPT_GRACE=1h", "COACH_REMINDER_DELAY=2h", "COACH_AUTO_FEEDBACK_DELAY=3m",
		"COACH_FEEDBACK_TIMEOUT=4m", "COACH_FEEDBACK_FOLLOWUP=5h", "COACH_DEBOUNCE=1s", "COACH_DEBOUNCE_MAX=1s", "COACH_LATE_TRY=0",
		"COACH_CHECK_IN=5m",
		"COACH_QUIET_HOURS=", "COACH_SEND_RATE=0.5", "COACH_HISTORY_LIMIT=10", "COACH_MAX_TURNS=2", "COACH_MAX_TOOL_CALLS=3",
		"COACH_CONTINUE_AS_NEW_EVENTS=100", "COACH_DEPLOYMENT_VERSIONING=pinned", "TEMPORAL_DEPLOYMENT_NAME=coaches", "TEMPORAL_WORKER_BUILD_ID=v7", "COACH_LOG_LEVEL=debug", "COACH_METRICS_ADDR=10.0.0.7:9090", "COACH_PROFILES=on", "COACH_ALERT_ESCALATION=5m", "COACH_ALERT_WORDS=off", "COACH_CRISIS_TAKE_OVER=2h", "COACH_SECOND_LOOK=off", "COACH_ALERT_URL=https://hooks.example.org/services/T0?token=abc",
		"COACH_TEXTS_PER_MINUTE=0", "COACH_TEXTS_PER_DAY=5", "COACH_LOOP_MUTE=0", "COACH_UNKNOWN_SENDERS=silent",
		"COACH_WORKFLOW_POLLERS=0", "COACH_ACTIVITY_POLLERS=5", "COACH_WORKER_SLOTS=0",
		"COACH_WORKFLOW_CACHE=200", "COACH_QUEUES=split", "COACH_DATABASE_CONNECTIONS=20",
		"COACH_WEB_SEARCH_URL=http://searx:8080/search?format=json", "COACH_WEB_SEARCH_KEY=hunter22", "COACH_WEB_FETCH=on",
		"COACH_WEB_ALLOW=127.0.0.1:8099,[::1]:80", "COACH_TOOL_DIGESTS=auto", "COACH_MESSAGE_TOOL=on",
		"TEMPORAL_ADDRESS=temporal:7233", "TEMPORAL_NAMESPACE=coach", "PATH=/bin", "ODD LINE",
	}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"sk-one", "sk-two"}, cfg.Model.Keys())
	require.Equal(t, []string{"m1", "s1", "e1"}, []string{cfg.Model.Name, cfg.Model.Small, cfg.Model.Embedding})
	require.Equal(t, 3*time.Minute, cfg.Model.Timeout)
	require.Equal(t, []string{"aaa", "bbb"}, cfg.Carrier.AuthTokens.Reveal())
	require.InDelta(t, 0.5, cfg.Carrier.SendRate, 0)
	require.Equal(t, "https://coach.example.org/app", cfg.HTTP.PublicURL)
	require.False(t, cfg.HTTP.Loopback())
	require.Equal(t, "Steps", cfg.Coaching.Programme)
	require.Equal(t, "GB", cfg.Coaching.DefaultRegion)
	require.Empty(t, cfg.Coaching.QuietHours)
	require.Zero(t, cfg.Coaching.PrepTime)
	require.Zero(t, cfg.Coaching.LateTry)
	require.Equal(t, 5*time.Minute, cfg.Coaching.CheckIn)
	require.Equal(t, Worker{PromptsDir: "/etc/prompts", HistoryLimit: 10, MaxTurns: 2, MaxToolCalls: 3, ContinueAsNewEvents: 100, Versioning: VersioningPinned, Deployment: "coaches", BuildID: "v7", AlertURL: NewSecret("https://hooks.example.org/services/T0?token=abc"), AlertWords: SwitchOff, AlertEscalation: 5 * time.Minute, CrisisTakeOver: 2 * time.Hour, SecondLook: SwitchOff, MetricsAddr: "10.0.0.7:9090", Profiles: SwitchOn}, cfg.Worker)
	require.Equal(t, Tuning{ActivityPollers: 5, WorkflowCache: 200, DatabaseConns: 20, Queues: QueuesSplit}, cfg.Tuning)
	require.Equal(t, Inbound{TextsPerDay: 5, UnknownSenders: UnknownSilent, StopAnswer: StopByUs}, cfg.Inbound)
	require.Equal(t, Web{
		SearchURL: "http://searx:8080/search?format=json", SearchKey: NewSecret("hunter22"), Fetch: SwitchOn,
		Allow: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8099"), netip.MustParseAddrPort("[::1]:80")},
	}, cfg.Web)
	require.Equal(t, SwitchAuto, cfg.Replies.ToolDigests)
	require.Equal(t, SwitchOn, cfg.Replies.MessageTool)
	require.Equal(t, "temporal:7233", cfg.Temporal.Options().HostPort)
	require.Equal(t, "coach", cfg.Temporal.Namespace)
	require.NoError(t, cfg.Validate(RoleWorker))
	require.NoError(t, cfg.Validate(RoleStarter))
}

func TestBadValuesNameTheVariableAndWhatIsAllowed(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"COACH_PREP_TIME=10", "COACH_PREP_TIME: \"10\" is not allowed; want a duration"},
		{"COACH_PREP_TIME=-1m", "COACH_PREP_TIME: \"-1m0s\" is not allowed; want a duration of 0 (off) or more"},
		{"COACH_RETENTION=-1h", "COACH_RETENTION: \"-1h0m0s\" is not allowed; want a duration of 0 (off) or more"},
		{"COACH_CHECK_IN=-1h", "COACH_CHECK_IN: \"-1h0m0s\" is not allowed; want a duration of 0 (off) or more"},
		{"COACH_CHECK_IN=4m59s", "COACH_CHECK_IN: \"4m59s\" is not allowed; want 0 (off), or a duration of 5m or more"},
		{"COACH_CHECK_IN_CAP=2", "COACH_CHECK_IN_CAP: no setting any longer: remove it. A day has one check-in"},
		{"COACH_DEBOUNCE_MAX=1s", "COACH_DEBOUNCE_MAX: \"1s\" is not allowed; want at least COACH_DEBOUNCE"},
		{"COACH_HISTORY_LIMIT=many", "COACH_HISTORY_LIMIT: \"many\" is not allowed; want a whole number"},
		{"COACH_HISTORY_LIMIT=-2", "COACH_HISTORY_LIMIT: \"-2\" is not allowed; want a whole number of -1 or more"},
		{"COACH_WORKFLOW_POLLERS=1", "COACH_WORKFLOW_POLLERS: \"1\" is not allowed; want a whole number of 2 or more, or 0"},
		{"COACH_ACTIVITY_POLLERS=-1", "COACH_ACTIVITY_POLLERS"},
		{"COACH_QUEUES=three", "COACH_QUEUES: \"three\" is not allowed; want one or split"},
		{"COACH_WORKER_SLOTS=many", "COACH_WORKER_SLOTS: \"many\" is not allowed; want a whole number"},
		{"COACH_WORKER_CPU=0.5", "COACH_WORKER_CPU: no setting any longer: remove it. COACH_WORKER_SLOTS=0 takes tasks"},
		{"COACH_WORKFLOW_CACHE=-1", "COACH_WORKFLOW_CACHE"},
		{"COACH_DATABASE_CONNECTIONS=-1", "COACH_DATABASE_CONNECTIONS"},
		{"COACH_MAX_TURNS=0", "COACH_MAX_TURNS"},
		{"COACH_MAX_TOOL_CALLS=-3", "COACH_MAX_TOOL_CALLS"},
		{"COACH_CONTINUE_AS_NEW_EVENTS=-1", "COACH_CONTINUE_AS_NEW_EVENTS: \"-1\" is not allowed; want a whole number of 0 or more"},
		{"COACH_DEPLOYMENT_VERSIONING=manual", "COACH_DEPLOYMENT_VERSIONING: \"manual\" is not allowed; want off, auto or pinned"},
		{"COACH_TEXTS_PER_MINUTE=-1", "COACH_TEXTS_PER_MINUTE: \"-1\" is not allowed; want a whole number of 0 or more"},
		{"COACH_TEXTS_PER_DAY=many", "COACH_TEXTS_PER_DAY"},
		{"COACH_LOOP_MUTE=-1h", "COACH_LOOP_MUTE: \"-1h0m0s\" is not allowed; want a duration of 0 (off) or more"},
		{"COACH_MODEL_TIMEOUT=1s", "COACH_MODEL_TIMEOUT: \"1s\" is not allowed; want a duration of 5s to 10m"},
		{"COACH_UNKNOWN_SENDERS=shout", "COACH_UNKNOWN_SENDERS: \"shout\" is not allowed; want hint or silent"},
		{"COACH_TOOL_DIGESTS=yes", "COACH_TOOL_DIGESTS: \"yes\" is not allowed; want one of auto, on, off"},
		{"COACH_MESSAGE_TOOL=auto", "COACH_MESSAGE_TOOL: \"auto\" is not allowed; want one of on, off"},
		{"COACH_WEB_FETCH=auto", "COACH_WEB_FETCH: \"auto\" is not allowed; want one of on, off"},
		{"COACH_WEB_SEARCH_URL=https://user:hunter22@search.example/", "COACH_WEB_SEARCH_URL: want an http:// or https:// address"},
		{"COACH_WEB_SEARCH_URL=search.example", "COACH_WEB_SEARCH_URL"},
		{"COACH_WEB_SEARCH_KEY=hunter22", "COACH_WEB_SEARCH_KEY: it is set and COACH_WEB_SEARCH_URL is not"},
		{"COACH_WEB_SEARCH_KEY=hunter22\tx", "COACH_WEB_SEARCH_KEY: it holds characters"},
		{"COACH_WEB_ALLOW=localhost:80", "COACH_WEB_ALLOW: \"localhost:80\" is not allowed; want IP addresses with ports"},
		{"COACH_SEND_RATE=fast", "COACH_SEND_RATE: \"fast\" is not allowed; want a number"},
		{"COACH_SEND_RATE=NaN", "COACH_SEND_RATE"},
		{"COACH_SEND_RATE=-1", "COACH_SEND_RATE"},
		{"COACH_PROGRAMME=" + strings.Repeat("x", 41), "COACH_PROGRAMME"},
		{"COACH_PROGRAMME=a\nb", "COACH_PROGRAMME: \"a\\nb\" is not allowed; want a name of at most 40 characters"},
		{"COACH_DEFAULT_TIMEZONE=Local", "COACH_DEFAULT_TIMEZONE: \"Local\" is not allowed; want a zone name"},
		{"COACH_DEFAULT_TIMEZONE=Mars/Base", "COACH_DEFAULT_TIMEZONE"},
		{"COACH_DEFAULT_TIMEZONE=../etc/passwd", "COACH_DEFAULT_TIMEZONE"},
		{"COACH_DEFAULT_REGION=UK", "COACH_DEFAULT_REGION: \"UK\" is not allowed; want a two-letter region"},
		{"COACH_DEFAULT_REGION=US GB", "COACH_DEFAULT_REGION"},
		{"COACH_DEFAULT_REGION=IT", "COACH_LOCALE: \"\" is not allowed; want the language that people write in, one of those screened for crisis and opt-out (de, en, es, fr, pt)"},
		{"COACH_LOCALE=it-IT", "COACH_LOCALE: \"it-IT\" is not allowed"},
		{"COACH_LOCALE=english", "COACH_LOCALE"},
		{"COACH_QUIET_HOURS=9pm-8am", "COACH_QUIET_HOURS: \"9pm-8am\" is not allowed; want HH:MM-HH:MM"},
		{"COACH_QUIET_HOURS=24:00-08:00", "COACH_QUIET_HOURS"},
		{"COACH_QUIET_HOURS=21:00-08:60", "COACH_QUIET_HOURS"},
		{"COACH_LOG_LEVEL=loud", "COACH_LOG_LEVEL: \"loud\" is not allowed; want debug, info, warn or error"},
		{"COACH_HTTP_ADDR=8080", "COACH_HTTP_ADDR: \"8080\" is not allowed; want HOST:PORT"},
		{"COACH_HTTP_ADDR=:99999", "COACH_HTTP_ADDR"},
		{"COACH_ALERT_URL=hooks.example.org/s3cret", "COACH_ALERT_URL: want an http:// or https:// address with a host"},
		{"COACH_METRICS_ADDR=9090", "COACH_METRICS_ADDR: \"9090\" is not allowed; want HOST:PORT"},
		{"COACH_UI_ORIGIN=https://temporal.example.org/ui", "COACH_UI_ORIGIN"},
		{"COACH_OIDC_ISSUER=https://login.example.org", "COACH_OIDC_CLIENT_ID: not set"},
		{"COACH_OIDC_CLIENT_SECRET=x", "COACH_OIDC_ISSUER: not set"},
		{"COACH_PUBLIC_URL=coach.example.org", "COACH_PUBLIC_URL: want an http:// or https:// address"},
		{"COACH_PUBLIC_URL=https://coach.example.org/?x=1", "COACH_PUBLIC_URL"},
		{"OPENAI_BASE_URL=ftp://host", "OPENAI_BASE_URL"},
		{"OPENAI_BASE_URL=https://user:hunter22@host", "OPENAI_BASE_URL"},
		{"TWILIO_BASE_URL=https://", "TWILIO_BASE_URL"},
		{"TWILIO_FROM=5017122661", "TWILIO_FROM: \"5017122661\" is not allowed"},
		{"TWILIO_ACCOUNT_SID=SK123", "TWILIO_ACCOUNT_SID"},
		{"TWILIO_AUTH_TOKEN=a,b,c", "TWILIO_AUTH_TOKEN: want one token, or two while rotating; got 3"},
		{"TWILIO_AUTH_TOKEN=hunter-22", "TWILIO_AUTH_TOKEN: want letters and digits only"},
		{"TWILIO_MESSAGING_SERVICE_SID=XX1", "TWILIO_MESSAGING_SERVICE_SID"},
		{"DATABASE_URL=mysql://root:hunter22@db/x", "DATABASE_URL: want postgres://"},
		{"DATABASE_URL=postgres://u:hunter22@:x y/", "DATABASE_URL: want postgres://"},
		{"COACH_PAYLOAD_KEYS=hunter22", "COACH_PAYLOAD_KEYS: want a comma list"},
		{"COACH_PAYLOAD_KEYS=k1:c2hvcnQ=", "openssl rand -base64 32"},
		{"COACH_PROMPT_DIR=/x", "COACH_PROMPT_DIR: not a setting of this program; did you mean COACH_PROMPTS_DIR?"},
		{"COACH_MODEL_FILE=/x", "COACH_MODEL_FILE: not a setting of this program"},
		{"TEMPORAL_TLS_CLIENT_CERT_PATH=/no/such/file", "TEMPORAL_*"},
	} {
		t.Run(test.in, func(t *testing.T) {
			_, err := Load([]string{test.in}, nil)
			require.ErrorContains(t, err, test.want)
			require.Len(t, strings.Split(err.Error(), "\n"), 1, "one problem, one line: %v", err)
			require.NotContains(t, err.Error(), "hunter22", "a secret in an error")
		})
	}
}

func TestAllProblemsAreReportedTogether(t *testing.T) {
	_, err := Load([]string{"COACH_DEBOUNCE=x", "COACH_DEBOUNCE_MAX=y", "COACH_DEFAULT_REGION=ZZ", "COACH_TYPO=1",
		"TWILIO_FROM=+15017122661", "TWILIO_MESSAGING_SERVICE_SID=MG1"}, nil)
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 5, "%v", err)
	for _, name := range []string{"COACH_DEBOUNCE:", "COACH_DEBOUNCE_MAX:", "COACH_DEFAULT_REGION:", "COACH_TYPO:", "TWILIO_FROM:"} {
		require.True(t, slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name) }), "%s in %v", name, lines)
	}
}

func TestSecretsFromFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	cfg, err := Load([]string{
		"OPENAI_API_KEY_FILE=" + write("key", "sk-file\n"),
		"OPENAI_API_KEYS_FILE=" + write("keys", "sk-a,sk-b\n"),
		"TWILIO_AUTH_TOKEN_FILE=" + write("token", "tok1,tok2"),
		"COACH_API_TOKEN_FILE=" + write("api", "bearer\r\n"),
		"COACH_PAYLOAD_KEYS_FILE=" + write("payload", goodKeys+"\n"),
		"DATABASE_URL_FILE=" + write("db", "postgres://u:p@h/d\n"),
		"TEMPORAL_API_KEY_FILE=" + write("temporal", "tkey"),
		"OPENAI_API_KEY=", // empty counts as unset
	}, Defaults{"DATABASE_URL": "sqlite:dev.db"})
	require.NoError(t, err)
	require.Equal(t, []string{"sk-file", "sk-a", "sk-b"}, cfg.Model.Keys())
	require.Equal(t, []string{"tok1", "tok2"}, cfg.Carrier.AuthTokens.Reveal())
	require.Equal(t, "bearer", cfg.HTTP.APIToken.Reveal())
	require.Equal(t, goodKeys, cfg.Payload.Keys.Reveal())
	require.Equal(t, "postgres://u:p@h/d", cfg.Database.URL.Reveal())
	require.NotNil(t, cfg.Temporal.Options().Credentials)

	for _, test := range []struct {
		name, want string
		in         []string
	}{
		{"both", "COACH_API_TOKEN: set either COACH_API_TOKEN or COACH_API_TOKEN_FILE, not both", []string{"COACH_API_TOKEN=x", "COACH_API_TOKEN_FILE=/x"}},
		{"absent", "COACH_API_TOKEN_FILE: open", []string{"COACH_API_TOKEN_FILE=" + filepath.Join(dir, "absent")}},
		{"empty", "is empty", []string{"COACH_API_TOKEN_FILE=" + write("empty", " \n")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(test.in, nil)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestDefaultsOfTheCaller(t *testing.T) {
	dev := Defaults{"TWILIO_FROM": "+15550100000", "TWILIO_ACCOUNT_SID": "AC0", "COACH_QUIET_HOURS": "22:00-07:00", "TEMPORAL_ADDRESS": "127.0.0.1:7777"}
	cfg, err := Load([]string{"TWILIO_ACCOUNT_SID=AC9", "TWILIO_MESSAGING_SERVICE_SID=MG9", "COACH_QUIET_HOURS="}, dev)
	require.NoError(t, err)
	require.Equal(t, "AC9", cfg.Carrier.AccountSID, "the environment wins")
	require.Empty(t, cfg.Carrier.From, "a default sender steps aside")
	require.Empty(t, cfg.Coaching.QuietHours, "empty quiet hours mean none")
	require.Equal(t, "127.0.0.1:7777", cfg.Temporal.Address)

	cfg, err = Load(nil, dev)
	require.NoError(t, err)
	require.Equal(t, "+15550100000", cfg.Carrier.From)
	require.Equal(t, "22:00-07:00", cfg.Coaching.QuietHours)

	_, err = Load(nil, Defaults{"COACH_NOPE": "1"})
	require.ErrorContains(t, err, "COACH_NOPE")
}

func TestTemporalProfileFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "temporal.toml")
	require.NoError(t, os.WriteFile(path, []byte("[profile.cloud]\naddress = \"cloud:7233\"\nnamespace = \"ns\"\n"), 0o600))
	cfg, err := Load([]string{"TEMPORAL_CONFIG_FILE=" + path, "TEMPORAL_PROFILE=cloud", "TEMPORAL_NAMESPACE=mine"}, nil)
	require.NoError(t, err)
	require.Equal(t, "cloud:7233", cfg.Temporal.Address)
	require.Equal(t, "mine", cfg.Temporal.Options().Namespace)
	require.Contains(t, cfg.Table(), Setting{Name: "TEMPORAL_ADDRESS", Value: "cloud:7233", Source: "profile"})
	require.Contains(t, cfg.Table(), Setting{Name: "TEMPORAL_NAMESPACE", Value: "mine", Source: "environment"})

	_, err = Load([]string{"TEMPORAL_CONFIG_FILE=" + path, "TEMPORAL_PROFILE=absent"}, nil)
	require.ErrorContains(t, err, "TEMPORAL_*")
}

func TestRegionsAreTheLibrarys(t *testing.T) {
	var want []string
	for region := range phonenumbers.GetSupportedRegions() {
		want = append(want, region)
	}
	require.ElementsMatch(t, want, strings.Fields(regions))
}

func TestAnyEnvironmentLoadsOrNamesAVariable(t *testing.T) {
	names := ownNames()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		value := rapid.String().Draw(t, "value")
		_, err := Load([]string{name + "=" + value}, nil)
		if err != nil {
			require.ErrorContains(t, err, "COACH_")
		}
	})
}

func TestEdits(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		require.Equal(t, test.want, edits(test.a, test.b), "%s %s", test.a, test.b)
	}
}

// The small model is the chat model where none is set, under any name.
func TestSmallModelFollowsTheChatModel(t *testing.T) {
	for _, tt := range []struct{ name, environ, want string }{
		{"the chat model", "COACH_MODEL=m1", "m1"},
		{"another chat model", "COACH_MODEL=m2", "m2"},
		{"its own", "COACH_SMALL_MODEL=s1", "s1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := Load([]string{tt.environ}, nil)
			require.NoError(t, err)
			require.Equal(t, tt.want, cfg.Model.Small)
		})
	}
}
