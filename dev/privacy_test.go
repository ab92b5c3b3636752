package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"coachline/internal/seal"
	"coachline/models"
	"coachline/models/wire"
)

// texted is one person of the run: what is known of them, and every text in
// either direction.
type texted struct {
	*subject
	personal []string
	texts    []string
	refused  bool // by the carrier, so that no phone ever got a text
}

// phonesJournal is the simulated phone network's memory. It stands for the
// handsets of the people and for the carrier, who both have the texts; so it is
// no place where the coach could leak them, and here it is the witness of what
// was really said.
const phonesJournal = "phones.jsonl"

// TestNothingPersonalIsWrittenInTheClear runs everything that touches a
// person's words with the log at its most talkative, and then looks for the
// words, names and numbers wherever something is written down. It does not run
// beside other tests: a process has one default logger, and a second run would
// take it over, so that this one's log would hold nothing to search.
func TestNothingPersonalIsWrittenInTheClear(t *testing.T) {
	began := time.Now()
	// The first slot is nearer than the preparation time: its prompt goes out
	// as soon as the schedule is made.
	target := began.Add(11 * time.Minute).Truncate(time.Minute)
	data := filepath.Join(t.TempDir(), "data")
	r := launchIn(t, []string{
		"COACH_LOG_LEVEL=debug", "COACH_PREP_TIME=30m", "COACH_PROMPT_SPREAD=0", "COACH_DEBOUNCE=100ms", "COACH_QUIET_HOURS=",
		"COACH_AUTO_FEEDBACK_DELAY=1s", "COACH_FEEDBACK_TIMEOUT=1s", "COACH_FEEDBACK_FOLLOWUP=1s", "COACH_REMINDER_DELAY=5s", "COACH_MAX_INITIATED_PER_DAY=0",
	}, "--data", data)
	people := []*texted{wholeLife(t, r, target), testersLife(t, r)}
	people = append(people, unreachable(t, r)...)
	people = append(people, stranger(t, r))

	var needles []needle
	for _, p := range people {
		needles = append(needles, p.needles()...)
	}
	search := newSearch(needles)
	metrics := fetch(t, r.table["API"]+"/metrics")
	piles := append(temporalPiles(t, r, data), pile{"GET /metrics", metrics})
	piles = append(piles, folderPiles(t, data)...)
	require.NoError(t, r.stop())
	piles = append(piles, pile{"stderr", []byte(r.log.String())})
	for _, p := range folderPiles(t, data) {
		piles = append(piles, pile{p.name + " after the stop", p.text})
	}

	sane(t, piles, people[0].id)
	witnessed(t, search, data, people)
	provesItself(t, search, piles, needles, keyRing(t, data))
	for _, p := range piles {
		for _, found := range search.in(p.text) {
			t.Errorf("%s holds %s: %s", p.name, found.what, found.around)
		}
	}
	size := 0
	for _, p := range piles {
		size += len(p.text)
	}
	t.Logf("%d forms of %d needles in %d piles, %d bytes, %s", search.forms, len(needles), len(piles), size, time.Since(began).Round(time.Second))
}

// enrols adds a person with everything that can be told of one.
func enrols(t *testing.T, r *running, number string, fields map[string]any) *texted {
	t.Helper()
	p := &texted{subject: &subject{person: &person{t: t, r: r, number: number}}}
	body := maps.Clone(fields)
	if body["phone_number"] == nil {
		body["phone_number"] = number
	}
	var texts models.PersonTexts[string]
	for field := range texts.All() {
		if text, given := body[field.Name].(string); given {
			p.personal = append(p.personal, text)
		}
	}
	status, answer := send(t, http.MethodPost, r.table["API"]+"/conversation/participants", body)
	require.Equal(t, http.StatusCreated, status, answer)
	var out struct {
		Result struct {
			ID string `json:"id"`
		} `json:"result"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &out))
	p.id = out.Result.ID
	return p
}

// tells texts the coach and waits for so many texts.
func (p *texted) tells(body string, texts int) {
	p.t.Helper()
	p.texts = append(p.texts, body)
	p.text(body)
	p.gets(texts)
}

// gets waits for texts from the coach.
func (p *texted) gets(texts int) {
	p.t.Helper()
	for range texts {
		p.texts = append(p.texts, p.next(soon))
	}
}

// wholeLife: enrolment, intake with its tools, prompt, silence, feedback,
// failures of the model and of the carrier, an operator's words and changes,
// opting out and coming back, and the end.
func wholeLife(t *testing.T, r *running, target time.Time) *texted {
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	p := enrols(t, r, "+12025550143", map[string]any{
		"phone_number": "(202) 555-0143", "name": "Thessalonika Quandervoort", "timezone": "America/New_York",
		"gender": "Genderfluidity", "ethnicity": "Sentinelandic",
		"background": "Retired lighthousekeeper from Quixhollow, allergic to zebrafinches since Michaelmas.",
	})
	p.gets(1)
	p.tells("hello there from Wobbegong harbour", 1)
	p.tells("paddleboarding around the breakwater", 1)
	p.tells("my grandmother Ermintrude paddled until ninety", 1)
	p.tells("around "+target.In(zone).Format("15:04")+" suits my seaweed drying", 1)
	p.tells("feeding the capybara Bartholomew", 1)
	p.tells("yes please, with gusto and marzipan", 2) // The confirmation and the prompt.
	p.gets(3)                                         // The question, the follow-up, the reminder.
	p.tells("done, past the old Wobbegong lighthouse", 1)
	p.becomes("the feedback over", func(s state) bool { return s.Mode == "INTAKE" })

	p.tells("give me a prompt about kelp forests", 1)
	p.tells("bad arguments for the flamingo timetable", 1)
	p.tells("unknown tool for juggling porcupines", 1)
	p.tells("call two tools for Aunt Philomena's teapot", 1)
	p.tells("so what do you know about me, dear coach", 1)
	for body, order := range map[string]map[string]any{
		"marmalade stumbles down the stairs": {"target": "model", "kind": "http", "status": 400},
		"tangerine sunsets over Timbuktu":    {"target": "model", "kind": "malformed"},
		"hedgehogs in herbaceous borders":    {"target": "carrier", "kind": "http", "status": 429, "code": 20429},
	} {
		p.fault(order)
		p.tells(body, 1)
	}
	// The carrier's signature is wrong, and the text never gets in.
	p.fault(map[string]any{"target": "inbound", "kind": "malformed"})
	p.tells("the walrus wears forged galoshes", 0)
	p.isThrough("failed")

	p.operator(http.MethodPost, "/messages", map[string]any{"body": "Operator Peregrine: the boathouse moved to Tuesday, bring wellingtons."})
	p.gets(1)
	p.personal = append(p.personal, "Thessalonika Brandywine", "Now also keeps bumblebees in Quixhollow.")
	p.operator(http.MethodPut, "", map[string]any{"name": p.personal[4], "background": p.personal[5]})
	p.tells("please stop texting me", 1)
	p.tells("START", 1)
	p.tells("HELP", 1)
	p.leaves()
	p.texts = append(p.texts, p.received()[p.seen-1])
	return p
}

// testersLife has debug texts, a number of another country, characters that
// formats escape, requests that are refused, and stays enrolled.
func testersLife(t *testing.T, r *running) *texted {
	p := enrols(t, r, "+442079460958", map[string]any{
		"name": "Zbigniew O'Shaughnessy-Łukasiewicz", "timezone": "Europe/London", "tester": true, "debug": true,
		"background": "Plays the didgeridoo; \"retired\" <beekeeper> & amateur palaeontologist.",
	})
	p.gets(2)
	p.tells("good evening from Worcestershire 🌧️ & thereabouts", 2)
	p.tells("\"quoted\" <b>trampolining</b> & cartwheels \\ somersaults", 2)
	// The text gets through and the carrier's answer does not: it is looked up.
	p.fault(map[string]any{"target": "carrier", "kind": "malformed"})
	p.tells("umbrellas are dancing in Uppsala", 2)
	for _, body := range []map[string]any{
		{"phone_number": p.number, "name": p.personal[0]},                                  // enrolled already
		{"phone_number": p.number + "x7", "name": p.personal[0]},                           // no number
		{"phone_number": "+442079460959", "name": p.personal[0], "timezone": "Zbigniew"},   // no zone
		{"phone_number": "+442079460959", "nom": p.personal[0], "background": p.texts[0]},  // no such field
		{"phone_number": "+442079460959", "name": strings.Repeat("Zbigniew Wąchock ", 20)}, // too long
	} {
		status, answer := send(t, http.MethodPost, r.table["API"]+"/conversation/participants", body)
		require.GreaterOrEqual(t, status, 400, answer)
	}
	p.personal = append(p.personal, "+442079460959")
	return p
}

// unreachable people have numbers that the carrier refuses; the words of the
// one refusal quote the number, the other says that they opted out.
func unreachable(t *testing.T, r *running) []*texted {
	var out []*texted
	for number, name := range map[string]string{"+15005550001": "Cassiopeia Featherstonehaugh", "+15005550004": "Marmaduke Cholmondeley"} {
		p := enrols(t, r, number, map[string]any{"name": name, "timezone": "America/Chicago"})
		require.Eventually(t, func() bool {
			var page struct {
				Result []models.HistoryEntry `json:"result"`
			}
			getJSON(t, p.api("/history"), &page)
			if len(page.Result) == 0 || page.Result[0].Delivery != wire.OutboxFailed {
				return false
			}
			p.texts = []string{page.Result[0].Text}
			return true
		}, soon, 100*time.Millisecond, "the carrier refuses %s", number)
		p.refused = true
		out = append(out, p)
	}
	return out
}

// stranger is not enrolled.
func stranger(t *testing.T, r *running) *texted {
	p := &texted{subject: &subject{person: &person{t: t, r: r, number: "+12025550187"}}}
	p.tells("pray who is this mysterious marmoset", 0)
	p.isThrough("received")
	return p
}

// isThrough waits until the carrier has delivered the newest text, or was
// refused.
func (p *texted) isThrough(status string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		var page struct {
			Messages []shown `json:"messages"`
		}
		getJSON(p.t, p.sim("/messages"), &page)
		i := slices.IndexFunc(page.Messages, func(m shown) bool { return m.Body == p.texts[len(p.texts)-1] })
		return i >= 0 && page.Messages[i].Status == status
	}, soon, 50*time.Millisecond, "the text is %s", status)
}

// needle is something that must not be found.
type needle struct{ what, text string }

// shortest is the length from which a piece of a text is its own.
const shortest = 12

var (
	wordPlaces = regexp.MustCompile(`\S+`)
	// ownName matches names of ours, of tools and columns, that a debug text or
	// the scripted model may mention; with the next word they are a piece.
	ownName = regexp.MustCompile(`^[a-z]+(_[a-z]+)+[.,]?$`)
)

// needles are the person's number in every notation, each word of what is
// known of them, and every text with all its pieces.
func (p *texted) needles() []needle {
	var out []needle
	for _, digits := range notations(p.number) {
		out = append(out, needle{"a number", digits})
	}
	for _, text := range p.personal {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' }) {
			if len(word) >= headLength {
				out = append(out, needle{"a word about a person", word})
			}
		}
	}
	for _, text := range p.texts {
		for _, piece := range pieces(text) {
			out = append(out, needle{"a piece of a text", piece})
		}
	}
	return out
}

// notations of a number; with a plus, percent-encoded or spelt with its country
// code, it holds the plain digits as well.
func notations(number string) []string {
	digits := strings.TrimPrefix(number, "+")
	if national, american := strings.CutPrefix(digits, "1"); american {
		area, exchange, line := national[:3], national[3:6], national[6:]
		return []string{
			digits, national, "(" + area + ") " + exchange + "-" + line, area + "-" + exchange + "-" + line,
			area + " " + exchange + " " + line, area + "." + exchange + "." + line,
		}
	}
	national := strings.TrimPrefix(digits, "44")
	return []string{digits, national, national[:2] + " " + national[2:6] + " " + national[6:], national[:2] + "-" + national[2:6] + "-" + national[6:]}
}

// pieces of a text: the whole, and from each of its words as many words as make
// it long enough to occur in no other text.
func pieces(text string) []string {
	var out []string
	if len(text) >= shortest {
		out = append(out, text)
	}
	words := wordPlaces.FindAllStringIndex(text, -1)
	for i, first := range words {
		for _, last := range words[i:] {
			if piece := text[first[0]:last[1]]; len(piece) >= shortest && !ownName.MatchString(piece) {
				out = append(out, piece)
				break
			}
		}
	}
	return out
}

// search finds any of many needles in one pass: it looks at each eight bytes
// and knows which needles begin so. Upper and lower case are the same.
type search struct {
	heads map[uint64][]form
	quick [1 << 16]bool // the first two bytes of any
	forms int
}

// form is a needle as some format would write it.
type form struct {
	needle
	bytes []byte
}

const headLength = 8

func newSearch(needles []needle) *search {
	s := &search{heads: map[uint64][]form{}}
	seen := map[string]bool{}
	for _, n := range needles {
		for _, text := range written(n.text) {
			text := lower([]byte(text))
			if len(text) < headLength || seen[string(text)] {
				continue
			}
			seen[string(text)] = true
			head := binary.LittleEndian.Uint64(text)
			s.heads[head] = append(s.heads[head], form{n, text})
			s.quick[uint16(head)] = true
			s.forms++
		}
	}
	return s
}

// written is a text as it is, in JSON, in a form or an address, and inside a
// base64 text, where it begins at any of three places.
func written(text string) []string {
	quoted, _ := json.Marshal(text) // A text always encodes.
	out := []string{text, strings.Trim(string(quoted), `"`), url.QueryEscape(text), url.PathEscape(text)}
	for skip := range 3 {
		code := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", skip) + text))
		// The characters at the ends share bits with the neighbours.
		first, last := (skip*8+5)/6, (skip+len(text))*8/6
		out = append(out, code[first:last])
	}
	return out
}

// lower changes ASCII letters only, so that lengths stay.
func lower(text []byte) []byte {
	out := bytes.Clone(text)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

// hit is a needle that was found.
type hit struct{ what, text, around string }

func (s *search) in(text []byte) []hit {
	var hits []hit
	seen := map[string]bool{}
	low := lower(text)
	for i := 0; i+headLength <= len(low); i++ {
		if !s.quick[uint16(low[i])|uint16(low[i+1])<<8] {
			continue
		}
		for _, f := range s.heads[binary.LittleEndian.Uint64(low[i:])] {
			if bytes.HasPrefix(low[i:], f.bytes) && !seen[f.text] {
				seen[f.text] = true
				around := text[max(0, i-80):min(len(text), i+len(f.bytes)+40)]
				hits = append(hits, hit{what: fmt.Sprintf("%s, %q", f.what, f.text), text: f.text, around: fmt.Sprintf("%q", around)})
			}
		}
	}
	return hits
}

// pile is a place to look in.
type pile struct {
	name string
	text []byte
}

// folderPiles are the bytes of every file of the data folder: the databases
// with their write-ahead logs, the Temporal server's log, keys and settings.
func folderPiles(t *testing.T, data string) []pile {
	var out []pile
	require.NoError(t, filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == phonesJournal {
			return err
		}
		text, err := os.ReadFile(path)
		out = append(out, pile{entry.Name(), text})
		return err
	}))
	return out
}

func fetch(t *testing.T, address string) []byte {
	t.Helper()
	resp, err := http.Get(address)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return text
}

func keyRing(t *testing.T, data string) *seal.Ring {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(data, keyFile))
	require.NoError(t, err)
	ring, err := seal.Parse(strings.TrimSpace(string(key)))
	require.NoError(t, err)
	return ring
}

// temporalPiles are what the Temporal server tells of every execution: the list
// with search attributes and memo, the description, the current details and
// every event, as they are stored and with every payload decrypted.
func temporalPiles(t *testing.T, r *running, data string) []pile {
	t.Helper()
	ctx, ring := t.Context(), keyRing(t, data)
	c := dialTemporal(t, r)
	opening, err := client.Dial(client.Options{
		HostPort:      r.table["Temporal gRPC"],
		DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), ring.Codec()),
	})
	require.NoError(t, err)
	defer opening.Close()
	raw, opened, list, details := pile{name: "histories as stored"}, pile{name: "histories decrypted"},
		pile{name: "list of executions"}, pile{name: "current details"}
	answer, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: "default", PageSize: 1000})
	require.NoError(t, err)
	require.Empty(t, answer.NextPageToken)
	for _, info := range answer.Executions {
		id, run := info.Execution.WorkflowId, info.Execution.RunId
		described, err := c.DescribeWorkflowExecution(ctx, id, run)
		require.NoError(t, err)
		for _, message := range []proto.Message{info, described} {
			list.text = slices.Concat(list.text, shape(t, message), shape(t, decrypted(t, ring, message)))
		}
		if info.Type.Name == wire.WorkflowType {
			value, err := opening.QueryWorkflow(ctx, id, run, "__temporal_workflow_metadata")
			require.NoError(t, err)
			var metadata sdkpb.WorkflowMetadata
			require.NoError(t, value.Get(&metadata))
			details.text = append(details.text, shape(t, &metadata)...)
		}
		events := c.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			require.NoError(t, err)
			raw.text = append(raw.text, shape(t, event)...)
			opened.text = append(opened.text, shape(t, decrypted(t, ring, event))...)
		}
	}
	return []pile{list, details, raw, opened}
}

// shape is a message as JSON and as bytes in protobuf: in JSON a payload's
// bytes are base64, in protobuf they are themselves.
func shape(t *testing.T, message proto.Message) []byte {
	t.Helper()
	text, err := protojson.Marshal(message)
	require.NoError(t, err)
	wire, err := proto.Marshal(message)
	require.NoError(t, err)
	return slices.Concat(text, []byte("\n"), wire, []byte("\n"))
}

// decrypted is a copy of a message with every payload opened.
func decrypted(t *testing.T, ring *seal.Ring, message proto.Message) proto.Message {
	t.Helper()
	out := proto.Clone(message)
	require.NoError(t, proxy.VisitPayloads(context.Background(), out, proxy.VisitPayloadsOptions{
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			return ring.Codec().Decode(payloads)
		},
	}))
	return out
}

// sane: every pile is the thing that it is called, and is not empty.
func sane(t *testing.T, piles []pile, id string) {
	t.Helper()
	holds := map[string][]string{
		"stderr":                      {"level=DEBUG", "level=WARN", id},
		"temporal.log":                {"level="},
		"coachline.db":                {"SQLite format 3"},
		"coachline.db-wal":            {id},
		"temporal.db":                 {"SQLite format 3"},
		"temporal.db-wal":             {models.WorkflowID(id)},
		"GET /metrics":                {"# HELP", "process_start_time_seconds", "\ncoachline_turns_total{", "\ncoachline_sends_total{", "\ntemporal_request_total{"},
		"list of executions":          {models.WorkflowID(id), wire.AttrStatus, string(wire.StatusWithdrawn)},
		"current details":             {"Nothing is due."},
		"histories as stored":         {wire.SignalMessageReceived, "binary/encrypted", "CallModel"},
		"histories decrypted":         {`"participant_id":"` + id, "json/plain"},
		"coachline.db after the stop": {"SQLite format 3", id}, "temporal.db after the stop": {models.WorkflowID(id)},
	}
	for _, p := range piles {
		for _, text := range holds[p.name] {
			require.Contains(t, string(p.text), text, p.name)
		}
		delete(holds, p.name)
	}
	require.Empty(t, holds, "not looked into")
}

// witnessed: the journal of the phones, which holds the texts, shows that the
// needles are what was said and that the search finds them in a real file.
func witnessed(t *testing.T, s *search, data string, people []*texted) {
	t.Helper()
	journal, err := os.ReadFile(filepath.Join(data, phonesJournal))
	require.NoError(t, err)
	found := map[string]bool{}
	for _, h := range s.in(journal) {
		found[string(lower([]byte(h.text)))] = true
	}
	for _, p := range people {
		if p.refused {
			continue
		}
		for _, text := range p.texts {
			for _, piece := range pieces(text) {
				require.True(t, found[string(lower([]byte(piece)))], "%q was not found in the journal", piece)
			}
		}
	}
}

// provesItself plants a needle in a copy of every pile, each time another one
// in another form, and in payloads of an event; the search must find it.
func provesItself(t *testing.T, s *search, piles []pile, needles []needle, ring *seal.Ring) {
	t.Helper()
	for i, p := range piles {
		n := needles[(i*37)%len(needles)]
		forms := written(n.text)
		middle := len(p.text) / 2
		copied := slices.Concat(p.text[:middle], []byte(forms[i%len(forms)]), p.text[middle:])
		require.True(t, slices.ContainsFunc(s.in(copied), func(h hit) bool { return strings.EqualFold(h.text, n.text) }), "%s: %q", p.name, forms[i%len(forms)])
	}
	secret := needles[len(needles)-1].text
	plain, err := converter.GetDefaultDataConverter().ToPayloads(map[string]string{"body": secret})
	require.NoError(t, err)
	sealed, err := ring.Codec().Encode(plain.Payloads)
	require.NoError(t, err)
	signal := func(payloads ...*commonpb.Payload) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
			WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{Input: &commonpb.Payloads{Payloads: payloads}},
		}}
	}
	text, err := protojson.Marshal(signal(plain.Payloads...))
	require.NoError(t, err)
	require.NotEmpty(t, s.in(text), "in base64 within JSON")
	require.NotEmpty(t, s.in(shape(t, signal(plain.Payloads...))), "not encrypted")
	require.Empty(t, s.in(shape(t, signal(sealed...))), "encrypted")
	require.NotEmpty(t, s.in(shape(t, decrypted(t, ring, signal(sealed...)))), "decrypted")
}
