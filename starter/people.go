package starter

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/sms"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/models"
	"coachline/models/wire"
)

const (
	day = 24 * time.Hour
	// silentDays is after how many days without a text Today counts a person as
	// silent.
	silentDays = 3
	// maxCrises is how many open crises Today lists.
	maxCrises = 50
	// todayLimit bounds a read of Today, which ends with no caller.
	todayLimit = 30 * time.Second
)

// peopleRoutes answers lists of people, and Today.
type peopleRoutes struct {
	base
	people    *store.People
	reports   *store.Reports
	attention *store.Attention
	alerts    *store.Alerts
	outbox    *store.Outbox
	region    string
	// today is read once for all pages that ask at the same time.
	today *joined[todayRows]
}

func newPeopleRoutes(b base, s *store.Store, region string) *peopleRoutes {
	h := &peopleRoutes{base: b, people: s.People, reports: s.Reports, attention: s.Attention, alerts: s.Alerts, outbox: s.Outbox, region: region}
	h.today = &joined[todayRows]{read: h.readToday}
	return h
}

func (h *peopleRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: "/people", id: "list-people", needs: auth.ParticipantRead,
		summary: "Search and filter people, with what a list of them shows"}, h.listPeople)
	register(router, route{method: http.MethodGet, path: "/today", id: "get-today", needs: auth.AttentionRead,
		summary: "Who calls for an operator now, and whose prompts come next"}, h.getToday)
}

type peopleRequest struct {
	Name        string             `query:"name" maxLength:"100" doc:"A part of the name, in any case. Needs personal:read."`
	Phone       string             `query:"phone" maxLength:"40" doc:"The whole number, in any usual notation. Needs personal:read."`
	Status      wire.Status        `query:"status" enum:"active,paused,completed,withdrawn,opted_out"`
	Attention   []wire.Attention   `query:"attention" enum:"crisis,person,unreachable,send,refusal,stuck,unanswered,lost_rows,flood,wrong_number,minor,erasure,language,advice" maxItems:"12" doc:"Only people at whom an operator should look for one of these, divided by commas."`
	SilentDays  int                `query:"silent_days" minimum:"1" maximum:"3660" doc:"Only people who were not heard for this many days; who never wrote counts from enrolment."`
	Waiting     bool               `query:"waiting" doc:"Only people with texts that wait for an operator."`
	Unreachable bool               `query:"unreachable" doc:"Only people whose number the carrier cannot reach."`
	TakenOver   bool               `query:"taken_over" doc:"Only people to whom an operator writes in the place of the coach."`
	TakenOverBy string             `query:"taken_over_by" maxLength:"120" doc:"Only those to whom this one writes: an actor of the audit such as user:ada, or alert."`
	DueFrom     time.Time          `query:"due_from" doc:"Only active people with a prompt from then on (RFC 3339); together with due_until."`
	DueUntil    time.Time          `query:"due_until" doc:"Only active people with a prompt before then (RFC 3339)."`
	Sort        models.PeopleOrder `query:"sort" enum:"last_heard,silent,next_prompt,name" default:"last_heard" doc:"last_heard: who was heard last first. silent: who was heard longest ago first. next_prompt: the soonest first, without people who have none. name needs personal:read."`
	Limit       int                `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor      string             `query:"cursor" maxLength:"120" doc:"next_cursor of the page before, with the same filters and sort."`
}

// toQuery checks a request. What is personal must not be found out by searching
// for it.
func (h *peopleRoutes) toQuery(ctx context.Context, in *peopleRequest) (models.PeopleQuery, error) {
	personal := in.Name != "" || in.Phone != "" || in.Sort == models.OrderName
	if personal && !canSeePersonal(ctx) {
		return models.PeopleQuery{}, newFailure(http.StatusForbidden, "permission %s is needed to search or sort by name or phone", auth.PersonalRead)
	}
	if in.DueFrom.IsZero() != in.DueUntil.IsZero() {
		return models.PeopleQuery{}, models.BadField("due_from", "due_from and due_until go together")
	}
	q := models.PeopleQuery{Order: in.Sort, After: in.Cursor, Limit: in.Limit, Now: h.now(), PeopleFilter: models.PeopleFilter{
		Status: in.Status, Attention: in.Attention, Waiting: in.Waiting, Unreachable: in.Unreachable,
		TakenOver: in.TakenOver, TakenOverBy: in.TakenOverBy,
		DueFrom: in.DueFrom, DueUntil: in.DueUntil, Name: in.Name,
	}}
	if in.SilentDays > 0 {
		q.HeardUntil = q.Now.Add(-time.Duration(in.SilentDays) * day)
	}
	if in.Phone != "" {
		phone, err := sms.Canonical(in.Phone, h.region)
		if err != nil {
			return models.PeopleQuery{}, err
		}
		q.Phone = phone
	}
	return q, nil
}

func (h *peopleRoutes) listPeople(ctx context.Context, in *peopleRequest) (*answer[api.PeoplePage], error) {
	query, err := h.toQuery(ctx, in)
	if err != nil {
		return nil, h.toFailure("listing people", err)
	}
	found, err := h.people.List(ctx, query)
	if err != nil {
		return nil, h.toFailure("listing people", err)
	}
	page := api.PeoplePage{People: make([]api.Person, 0, len(found.People))}
	for _, p := range found.People {
		page.People = append(page.People, toPerson(ctx, p))
	}
	if found.Cursor != "" {
		page.NextCursor = &found.Cursor
	}
	return newAnswer("", page), nil
}

func toPerson(ctx context.Context, p models.Person) api.Person {
	if !canSeePersonal(ctx) {
		p.Participant = p.WithoutPersonal()
	}
	return api.Person{
		ID: p.ID, Name: p.Name, Phone: p.Phone, Timezone: p.Timezone, Status: p.Status, Mode: p.Mode, Attention: p.Attention,
		UnreachableAt: p.UnreachableAt, TakenOver: toTakeOver(p.Participant), EnrolledAt: p.EnrolledAt.UTC(), LastInboundAt: p.LastInboundAt, NextPromptAt: p.NextPromptAt,
		Prompts: p.Prompts, Answered: p.Answered,
	}
}

// todayRows is what Today shows, before the caller's permissions are applied.
type todayRows struct {
	counts    models.Today
	crises    []models.OpenAttention
	strangers []models.Alert
	floods    []models.OpenAttention // of numbers that are not enrolled: none or one
	holds     []models.SenderHold
}

func (h *peopleRoutes) readToday(ctx context.Context) (out todayRows, err error) {
	ctx, cancel := context.WithTimeout(ctx, todayLimit)
	defer cancel()
	now := h.now()
	if out.counts, err = h.reports.Today(ctx, now, now.Add(-silentDays*day)); err != nil {
		return out, err
	}
	if out.crises, err = h.attention.OpenAttention(ctx, models.AttentionQuery{Kind: wire.AttentionCrisis, Limit: maxCrises}); err != nil {
		return out, err
	}
	if out.strangers, err = h.alerts.StrangerAlerts(ctx, maxCrises); err != nil {
		return out, err
	}
	if out.floods, err = h.attention.OpenAttention(ctx, models.AttentionQuery{Kind: wire.AttentionFlood, Strangers: true, Limit: 1}); err != nil {
		return out, err
	}
	out.holds, err = h.outbox.SenderHolds(ctx)
	return out, err
}

func (h *peopleRoutes) getToday(ctx context.Context, _ *noInput) (*answer[api.Today], error) {
	read, err := h.today.get(ctx)
	if err != nil {
		return nil, h.toFailure("reading today", err)
	}
	counts := read.counts
	today := api.Today{
		People: counts.People, Silent: counts.Silent, SilentDays: silentDays, Waiting: counts.Waiting, Unreachable: counts.Unreachable,
		Crises: []api.Attention{}, Strangers: []models.Alert{}, SenderHolds: []api.SenderHold{}, Hours: counts.Hours,
	}
	for _, kind := range wire.Attentions() {
		today.Attention = append(today.Attention, api.AttentionCount{Kind: kind, People: counts.Attention[kind]})
	}
	for _, row := range read.crises {
		today.Crises = append(today.Crises, toAttention(ctx, row))
	}
	for _, row := range read.strangers {
		today.Strangers = append(today.Strangers, toAlert(row, h.now()))
	}
	for _, row := range read.floods {
		flood := toAttention(ctx, row)
		today.Flood = &flood
	}
	for _, hold := range read.holds {
		today.SenderHolds = append(today.SenderHolds, api.SenderHold{Sender: hold.Name, Code: hold.Code, Since: hold.SetAt.UTC(), Until: hold.UntilAt.UTC()})
	}
	return newAnswer("", today), nil
}

// numbers tells the numbers of the programme and of its studies from those of people.
type numbers struct {
	region   string
	carrier  CarrierConfig
	resolver *study.Resolver
}

// parse returns a number in E.164. The programme's own numbers are refused: it would
// text itself.
func (n *numbers) parse(text string) (string, error) {
	phone, err := sms.Canonical(text, n.region)
	if err != nil {
		return "", err
	}
	if slices.Contains(n.list(), phone) {
		return "", models.BadField("phone_number", "is the programme's own number")
	}
	return phone, nil
}

// parseSender returns a number of our own in E.164.
func (n *numbers) parseSender(text string) (string, error) {
	phone, err := sms.Canonical(text, n.region)
	if err != nil || phone != text {
		return "", models.BadField("settings.from", "must be a number in E.164, such as +15017122661")
	}
	return phone, nil
}

// isOurs reports whether a text was sent to this programme or to one of its
// studies. With neither numbers nor a service configured, the signature and the
// account have to do.
func (n *numbers) isOurs(to, serviceSID string) bool {
	if len(n.carrier.OurNumbers) == 0 && n.carrier.MessagingServiceSID == "" {
		return true
	}
	senders := append(n.resolver.Senders(), models.Sender{MessagingService: n.carrier.MessagingServiceSID})
	isService := func(sender models.Sender) bool {
		return sender.MessagingService != "" && sender.MessagingService == serviceSID
	}
	return slices.Contains(n.list(), to) || slices.ContainsFunc(senders, isService)
}

// list names the numbers of the programme and of its studies.
func (n *numbers) list() []string {
	list := slices.Clone(n.carrier.OurNumbers)
	for _, sender := range n.resolver.Senders() {
		if sender.From != "" {
			list = append(list, sender.From)
		}
	}
	return list
}
