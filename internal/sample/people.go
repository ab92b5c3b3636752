// Package sample makes people who do not exist, with conversations, for development
// and for benchmarks: as many as are wanted, the same for the same seed.
package sample

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"coachline/internal/database"
	"coachline/internal/segments"
	"coachline/models"
	"coachline/models/wire"
)

// Prefix begins the id of every sample person.
const Prefix = "conv_sample_"

// Config says what is made.
type Config struct {
	People int
	// Seed decides on everything that is drawn.
	Seed uint64
	// Now is the instant at which the sample is taken: all that happened was before.
	Now time.Time
	// Days is for how long people have been enrolled at most; 0 is 7.
	Days int
}

// rows are those of some people, by table.
type rows struct {
	people    []models.Participant
	profiles  []models.Profile
	schedules []models.ScheduleRow
	turns     []models.Turn
	messages  []models.Message
	inbound   []models.Inbound
	outbox    []models.Outbox
	prompts   []models.Prompt
	consents  []models.Consent
	attention []models.AttentionEntry
	alerts    []models.Alert
	costs     []models.Cost
}

// rowMaker makes rows in the order of the people.
type rowMaker struct {
	cfg  Config
	draw *rand.Rand
	base *database.Database
	rows rows
	// inboundID is the number of the newest text.
	inboundID int64
}

var (
	givenNames = strings.Fields("Ada Amir Bela Bruno Carla Chen Dario Dilan Edith Elif Farid Femke Gita Goran Hanna Hugo Ines Ivan Jana Jonas Kofi Lena Lior Mara Milan Nadia Noor Olga Omar Petra Quinn Rosa Ruben Salma Sven Tara Tomas Uma Viktor Wanda Yara Zoe")
	surnames   = strings.Fields("Abara Becker Castillo Dubois Eriksen Fischer Grant Haddad Ito Jansen Kaya Larsen Moreau Novak Okafor Park Quill Rossi Sato Tanaka Usman Vogel Weber Xu Yilmaz Zeman")
	timezones  = []string{"America/New_York", "America/Chicago", "America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata"}
	habits     = []string{"walk", "stretch", "bike", "swim", "climb the stairs"}
	said       = []string{"Did it! Ten minutes before breakfast.", "Not today, it rained all day.", "Can you remind me a bit later tomorrow?", "I felt good afterwards.", "Too tired, sorry."}
	answered   = []string{"That counts, well done. What made it work today?", "Thank you for telling me. What would be the smallest version for tomorrow?", "Sure, I moved it. Anything else that gets in the way?", "Good to hear. Shall we keep it as it is?"}
)

// person makes one person with all that happened to them.
func (m *rowMaker) person(number int) {
	now := m.cfg.Now
	days := 1 + m.draw.IntN(m.cfg.Days)
	enrolled := database.Instant(now.Add(-time.Duration(days)*24*time.Hour - time.Duration(m.draw.IntN(3600))*time.Second))
	phone := fmt.Sprintf("+1999%07d", number) // 999 is no area code
	p := models.Participant{
		ID: fmt.Sprintf("%s%06d", Prefix, number), Phone: phone, PhoneIndex: m.base.Index(phone),
		PersonTexts: models.PersonTexts[string]{Name: givenNames[m.draw.IntN(len(givenNames))] + " " + surnames[m.draw.IntN(len(surnames))], Gender: []string{"woman", "man", ""}[m.draw.IntN(3)]}, Timezone: timezones[m.draw.IntN(len(timezones))], Locale: "en-US",
		Channel: wire.ChannelSMS, LastChannel: wire.ChannelSMS, Status: wire.StatusActive, Mode: wire.ModeFeedback,
		StudyID: models.DefaultStudy, NextSeq: 1, Version: 1, EnrolledAt: enrolled, CreatedAt: enrolled, UpdatedAt: enrolled,
	}
	switch n := m.draw.IntN(100); {
	case n < 4:
		p.Status = wire.StatusPaused
	case n < 7:
		p.Status = wire.StatusOptedOut
	case n < 10:
		p.Status = wire.StatusCompleted
	}
	m.rows.consents = append(m.rows.consents, models.Consent{
		ParticipantID: p.ID, PhoneIndex: p.PhoneIndex, Action: models.ConsentOptIn, Method: models.MethodForm, RecordedBy: "sample", At: enrolled,
	})
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		zone = time.UTC
	}
	hour := 7 + m.draw.IntN(12)
	m.plan(p, hour, zone)
	answers := m.draw.IntN(100) // how often the person answers, in percent
	sent := 0
	for day := days - 1; day >= 0; day-- {
		local := now.In(zone).AddDate(0, 0, -day)
		at := time.Date(local.Year(), local.Month(), local.Day(), hour, 0, 0, 0, zone)
		if at.Before(enrolled) || at.After(now.Add(-10*time.Minute)) {
			continue
		}
		sent++
		m.day(&p, at, sent, m.draw.IntN(100) < answers)
	}
	m.concern(&p, number)
	m.rows.people = append(m.rows.people, p)
	m.rows.profiles = append(m.rows.profiles, models.Profile{ParticipantID: p.ID, HabitTexts: models.HabitTexts{HabitDomain: habits[m.draw.IntN(len(habits))]}, TotalPrompts: sent, SuccessCount: sent * answers / 100, UpdatedAt: enrolled, Version: 1})
}

// plan has the next prompt go out at an hour of the person's zone.
func (m *rowMaker) plan(p models.Participant, hour int, zone *time.Location) {
	row := models.ScheduleRow{ParticipantID: p.ID, ID: "s1", Type: wire.ScheduleFixed, At: fmt.Sprintf("%02d:00", hour), Zone: p.Timezone, UpdatedAt: p.EnrolledAt}
	if p.Status == wire.StatusActive {
		local := m.cfg.Now.In(zone)
		next := time.Date(local.Year(), local.Month(), local.Day(), hour, 0, 0, 0, zone)
		if !next.After(m.cfg.Now) {
			next = next.AddDate(0, 0, 1)
		}
		next = next.UTC()
		row.NextAt = &next
	}
	m.rows.schedules = append(m.rows.schedules, row)
}

// day makes the prompt of a day and, where the person answers, their text and ours.
func (m *rowMaker) day(p *models.Participant, at time.Time, number int, answers bool) {
	date := at.Format(time.DateOnly) // in the person's zone
	at = database.Instant(at)
	id := models.PromptID(p.ID, "s1", date)
	sent := at.Add(time.Duration(m.draw.IntN(40)) * time.Second)
	prompt := models.Prompt{ID: id, ParticipantID: p.ID, ScheduleID: "s1", LocalDate: date, TargetAt: at, State: models.PromptPending, SentAt: &sent}
	turn := m.turn(p, wire.TurnPrompt, 2*number, sent)
	m.send(p, turn, "Good day! A small step today: ten minutes, when it suits you.", sent)
	if answers {
		heard := sent.Add(time.Duration(5+m.draw.IntN(240)) * time.Minute)
		if heard.Before(m.cfg.Now) {
			m.hear(p, said[m.draw.IntN(len(said))], heard)
			replied := heard.Add(time.Duration(3+m.draw.IntN(9)) * time.Second)
			m.send(p, m.turn(p, wire.TurnReply, 2*number+1, replied), answered[m.draw.IntN(len(answered))], replied)
			prompt.RespondedAt, prompt.State = &heard, models.PromptResponded
		}
	}
	m.rows.prompts = append(m.rows.prompts, prompt)
}

func (m *rowMaker) turn(p *models.Participant, kind wire.TurnKind, number int, at time.Time) models.Turn {
	turn := models.Turn{
		ID: models.TurnID(p.ID, number), ParticipantID: p.ID, Number: number, Kind: kind, Mode: p.Mode, PromptVersion: "sample", Outcome: "model", StartedAt: at.Add(-2 * time.Second), FinishedAt: &at,
	}
	m.rows.turns = append(m.rows.turns, turn)
	tokens := int64(900 + m.draw.IntN(1200))
	micros := tokens / 2
	m.rows.costs = append(m.rows.costs, models.Cost{
		Ref: "step/" + turn.ID + "/1/0", ParticipantID: p.ID, Day: at.Format(time.DateOnly), Kind: models.CostModel, Model: "sample", Stage: models.StageModel,
		InputTokens: tokens, CachedTokens: tokens / 2, OutputTokens: int64(20 + m.draw.IntN(60)), Micros: &micros, Currency: "USD",
	})
	return turn
}

// send makes a text of ours that was delivered, or that failed now and then.
func (m *rowMaker) send(p *models.Participant, turn models.Turn, body string, at time.Time) {
	count := segments.Count(body).Segments
	row := models.Outbox{
		ID: turn.ID + "-p1", ParticipantID: p.ID, TurnID: turn.ID, Part: 1, Kind: models.EntryOf(turn.Kind), Body: body, Channel: wire.ChannelSMS, Status: wire.OutboxDelivered,
		ProviderSID: "SM" + turn.ID, Attempts: 1, Segments: &count, CreatedAt: at, AttemptedAt: &at, AcceptedAt: &at, UpdatedAt: at.Add(4 * time.Second),
	}
	if m.draw.IntN(200) == 0 {
		row.Status, row.ErrorCode = wire.OutboxUndelivered, []string{"30003", "30005", "30007"}[m.draw.IntN(3)]
	}
	m.rows.outbox = append(m.rows.outbox, row)
	m.rows.messages = append(m.rows.messages, models.Message{
		ParticipantID: p.ID, TurnID: turn.ID, Key: turn.ID, Role: models.RoleAssistant, Kind: models.EntryOf(turn.Kind), Text: body, OutboxID: row.ID, Channel: wire.ChannelSMS, At: at,
	})
	micros := int64(11_300 * count)
	m.rows.costs = append(m.rows.costs, models.Cost{
		Ref: "outbox/" + row.ID, ParticipantID: p.ID, Day: at.Format(time.DateOnly), Kind: models.CostOutbound, Segments: int64(count), Micros: &micros, Currency: "USD",
	})
}

// hear makes a text of the person's and returns its number.
func (m *rowMaker) hear(p *models.Participant, body string, at time.Time) int64 {
	m.inboundID++
	m.rows.inbound = append(m.rows.inbound, models.Inbound{
		ID: m.inboundID, ProviderSID: fmt.Sprintf("SMsample%09d", m.inboundID), ParticipantID: p.ID, Seq: p.NextSeq, From: p.Phone, To: "+15005550006", Body: body,
		Channel: wire.ChannelSMS, FromIndex: p.PhoneIndex, RepeatIndex: m.base.Index(p.Phone + body), ReceivedAt: at,
	})
	m.rows.messages = append(m.rows.messages, models.Message{
		ParticipantID: p.ID, Key: models.InboundKey(m.inboundID), Role: models.RoleUser, Kind: models.KindMessage, Text: body, Channel: wire.ChannelSMS, At: at,
	})
	micros := int64(7_500)
	m.rows.costs = append(m.rows.costs, models.Cost{
		Ref: fmt.Sprint("inbound/", m.inboundID), ParticipantID: p.ID, Day: at.Format(time.DateOnly), Kind: models.CostInbound, Segments: 1, Micros: &micros, Currency: "USD",
	})
	p.NextSeq++
	heard := at
	p.LastInboundAt = &heard
	return m.inboundID
}

// concern makes an operator needed for some: one in 2,000 in crisis, one in 100
// who cannot be reached, one in 150 with a text that failed.
func (m *rowMaker) concern(p *models.Participant, number int) {
	at := database.Instant(m.cfg.Now.Add(-time.Duration(1+m.draw.IntN(600)) * time.Minute))
	if at.Before(p.EnrolledAt) {
		at = p.EnrolledAt
	}
	entry := models.AttentionEntry{ParticipantID: p.ID, RaisedAt: at}
	switch {
	case number%2000 == 1:
		id := m.hear(p, "I do not want to live any more", at)
		text := &m.rows.inbound[len(m.rows.inbound)-1]
		text.Danger, text.DangerTier, text.DangerRule = models.DangerSelfHarm, models.TierA, "en.sample"
		alert := models.Alert{ID: fmt.Sprint("sample-", id), ParticipantID: p.ID, InboundID: id, Danger: text.Danger, Tier: string(text.DangerTier), Rule: text.DangerRule, CreatedAt: at, ToldAt: &at}
		m.rows.alerts = append(m.rows.alerts, alert)
		entry.Kind, entry.Ref = wire.AttentionCrisis, alert.ID
	case number%100 == 2:
		entry.Kind, entry.Code = wire.AttentionUnreachable, "30005"
		p.UnreachableAt, p.UnreachableCode = &at, "30005"
	case number%150 == 3:
		entry.Kind, entry.Code = wire.AttentionSend, "30007"
	default:
		return
	}
	p.Attention, p.AttentionAt = entry.Kind, &at
	m.rows.attention = append(m.rows.attention, entry)
}
