package starter

import (
	"context"
	"time"

	"coachline/internal/metrics"
	"coachline/internal/webhooks"
	"coachline/models"
	"coachline/starter/relay"
)

// Store is what the starter needs of the database; package store provides it.
// It is an interface because tests need one that fails, and one that loses a
// race, when they say so.
type Store interface {
	relay.Store
	relay.Costs
	metrics.Notices

	// Ping fails unless the database answers.
	Ping(ctx context.Context) error

	// Participants.
	EnrollOnce(ctx context.Context, p models.Participant, by models.Enrolment) (models.Participant, error)
	Studies(ctx context.Context) ([]models.Study, error)
	AddWebhook(ctx context.Context, w models.Webhook) (models.Webhook, error)
	Webhook(ctx context.Context, id string) (models.Webhook, error)
	ChangeWebhook(ctx context.Context, c models.WebhookChange) (models.Webhook, error)
	RemoveWebhook(ctx context.Context, id, actor string, now time.Time) error
	AddTestDelivery(ctx context.Context, webhookID, actor string, now time.Time) (models.WebhookDelivery, error)
	Deliveries(ctx context.Context, q models.DeliveryQuery) ([]models.WebhookDelivery, error)
	ReplayDeliveries(ctx context.Context, webhookID, actor string, since, now time.Time) (int64, error)
	webhooks.Store
	StudyVersions(ctx context.Context) (map[string]int64, error)
	PeopleToCloseOut(ctx context.Context, afterID string, limit int) ([]models.Participant, error)
	CloseOut(ctx context.Context, participantID string, now time.Time) error
	AddStudy(ctx context.Context, study models.Study) (models.Study, error)
	ChangeStudy(ctx context.Context, in models.StudyUpdate) (models.Study, error)
	ConsentTexts(ctx context.Context, studyID string) ([]models.ConsentText, error)
	AddConsentText(ctx context.Context, text models.ConsentText) (models.ConsentText, error)
	StudyConsents(ctx context.Context, participantID string) ([]models.StudyConsent, error)
	RecordStudyConsent(ctx context.Context, row models.StudyConsent, now time.Time) (models.StudyConsent, error)
	RequestJoin(ctx context.Context, r models.JoinRequest) (string, error)
	Joins(ctx context.Context, studyID string, limit int) ([]models.JoinRow, map[models.JoinState]int64, error)
	Allocate(ctx context.Context, in models.AllocationRequest) (models.Allocation, error)
	Allocations(ctx context.Context, studyID string, after int64, limit int) ([]models.Allocation, error)
	CheckAllocations(ctx context.Context, studyID string) (models.AllocationCheck, error)
	Decisions(ctx context.Context, q models.DecisionQuery) ([]models.DecisionOutcome, error)
	StudyProgress(ctx context.Context, id string, now time.Time) (models.Study, models.StudyProgress, error)
	ReadStudy(ctx context.Context, what models.StudyReading, fn func(models.Study, models.StudyRows) error) error
	StudySeed(ctx context.Context, studyID, actor string, now time.Time) ([]byte, error)
	Participant(ctx context.Context, id string) (models.Participant, error)
	Participants(ctx context.Context, q models.ParticipantQuery) ([]models.Participant, error)
	UpdateParticipant(ctx context.Context, u models.ParticipantUpdate) (models.Participant, error)
	RemoveParticipantIf(ctx context.Context, r models.Removal) error
	Profile(ctx context.Context, id string) (models.Profile, error)
	// MutedUntil is zero when the participant is not muted at the instant now.
	MutedUntil(ctx context.Context, id string, now time.Time) (time.Time, error)
	// OpenRequestKey and KeepAnswer are for requests with an Idempotency-Key.
	OpenRequestKey(ctx context.Context, r models.KeyedRequest) (row models.RequestKey, isNew bool, err error)
	KeepAnswer(ctx context.Context, row models.RequestKey) error
	RecordAudit(ctx context.Context, a models.Audit) error

	// Lists of people.
	People(ctx context.Context, q models.PeopleQuery) (models.PeoplePage, error)
	Today(ctx context.Context, now, silentSince time.Time) (models.Today, error)
	SenderHolds(ctx context.Context) ([]models.SenderHold, error)

	AddView(ctx context.Context, v models.PeopleView) (models.PeopleView, error)
	Views(ctx context.Context, actor string) ([]models.PeopleView, error)
	DeleteView(ctx context.Context, r models.ViewRemoval) error

	// The conversation.
	AcceptInbound(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error)
	AcceptStatus(ctx context.Context, s models.StatusCallback) (bool, error)
	History(ctx context.Context, id string, limit int, before time.Time) ([]models.HistoryEntry, error)
	HistoryAfter(ctx context.Context, id string, limit int, after time.Time) ([]models.HistoryEntry, error)
	QueueOperatorMessage(ctx context.Context, m models.OperatorMessage) (models.Outbox, bool, error)
	WaitingMessages(ctx context.Context, participantID string) ([]models.WaitingMessage, error)

	// Take-overs.
	TakeOver(ctx context.Context, t models.TakeOver) (models.Participant, error)
	HandBack(ctx context.Context, h models.HandBack) (models.Participant, error)

	// People who were erased.
	Erasure(ctx context.Context, participantID string) (models.Erasure, error)
	Erasures(ctx context.Context, q models.ErasureQuery) ([]models.Erasure, error)

	// Holds of prompts.
	CreateHold(ctx context.Context, h models.Hold) (models.Hold, error)
	ReleaseHold(ctx context.Context, r models.HoldRelease) (models.Hold, error)
	Holds(ctx context.Context, q models.HoldQuery) ([]models.Hold, error)

	// What is planned.
	Agenda(ctx context.Context, q models.AgendaQuery) ([]models.AgendaEntry, error)
	CountAgenda(ctx context.Context, q models.AgendaQuery) ([]models.AgendaCount, error)
	EndingPauses(ctx context.Context, q models.AgendaQuery) ([]models.Participant, error)
	DeliveryReport(ctx context.Context, from, until time.Time, sender string) (models.DeliveryReport, error)

	// Imports of cohorts.
	CreateCohort(ctx context.Context, job models.CohortJob) (models.CohortJob, error)
	Cohort(ctx context.Context, id string) (models.CohortJob, error)
	CohortsToDo(ctx context.Context) ([]string, error)
	KnownNumbers(ctx context.Context, phones []string) (map[string]models.KnownNumber, error)
	SaveCohortCheck(ctx context.Context, check models.CohortCheck) (models.CohortJob, error)
	ConfirmCohort(ctx context.Context, step models.CohortStep) (models.CohortJob, error)
	CancelCohort(ctx context.Context, step models.CohortStep) (models.CohortJob, error)
	EnrolBatch(ctx context.Context, b models.CohortBatch) (models.CohortJob, error)
	ExpireCohorts(ctx context.Context, before, now time.Time) error

	// Costs and budgets.
	Costs(ctx context.Context, q models.CostQuery) ([]models.CostSum, error)
	Budgets(ctx context.Context) ([]models.Budget, error)
	SetBudget(ctx context.Context, b models.Budget) (models.Budget, error)
	ChangeBudget(ctx context.Context, c models.BudgetChange) (models.Budget, error)
	DeleteBudget(ctx context.Context, id int64, actor string, now time.Time) error

	// What operators should look at.
	OpenAttention(ctx context.Context, q models.AttentionQuery) ([]models.OpenAttention, error)
	ClearAttention(ctx context.Context, c models.AttentionClearing) (models.Participant, error)
	Alarms(ctx context.Context, q models.AlertQuery) ([]models.Alert, error)
	AlertText(ctx context.Context, id string) (models.AlertText, error)
	StrangerAlerts(ctx context.Context, limit int) ([]models.Alert, error)
	AcknowledgeAlert(ctx context.Context, a models.AlertAcknowledgement) (models.Alert, error)
	MarkAlarm(ctx context.Context, m models.AlertMarking) (models.Alert, error)
	MarkedTexts(ctx context.Context) ([]models.MarkedText, error)
}

// Turns reads the records of turns and the consent ledger; package archive
// provides it.
type Turns interface {
	Turns(ctx context.Context, q models.TurnQuery) ([]models.TurnTotals, error)
	Turn(ctx context.Context, participantID string, number int) (models.TurnRecord, error)
	Consents(ctx context.Context, participantID string) ([]models.Consent, error)
}

// Access keeps users, sessions, API tokens and the audit; package store provides
// it.
type Access interface {
	CreateUser(ctx context.Context, u models.User) (models.User, error)
	User(ctx context.Context, id string) (models.User, error)
	UserByLogin(ctx context.Context, login string) (models.User, error)
	UserBySubject(ctx context.Context, subject string) (models.User, error)
	Users(ctx context.Context) ([]models.User, error)
	UpdateUser(ctx context.Context, u models.UserUpdate) (models.User, error)
	NoteLogin(ctx context.Context, userID string, at time.Time) error

	SaveSession(ctx context.Context, row models.Session) error
	KeepSession(ctx context.Context, row models.Session) error
	FindSession(ctx context.Context, tokenHash string, at time.Time) (models.Session, error)
	DeleteSession(ctx context.Context, tokenHash string) error
	HasSession(ctx context.Context, id string, at time.Time) (bool, error)
	RecordAudit(ctx context.Context, a models.Audit) error
	Sessions(ctx context.Context, at time.Time) ([]models.Session, error)
	RevokeSession(ctx context.Context, id, actor string, now time.Time) error
	DeleteExpiredSessions(ctx context.Context, at time.Time) error

	CreateToken(ctx context.Context, t models.APIToken) (models.APIToken, error)
	Tokens(ctx context.Context) ([]models.APIToken, error)
	UseToken(ctx context.Context, hash string, now time.Time) (models.APIToken, error)
	RevokeToken(ctx context.Context, id, actor string, now time.Time) (models.APIToken, error)

	AuditRows(ctx context.Context, q models.AuditQuery) ([]models.Audit, error)
	CheckAudit(ctx context.Context) (models.AuditChain, error)
	CheckNewAudit(ctx context.Context, now time.Time) (models.AuditChain, error)
}

// Memory reads and erases what is remembered of a person; package memory
// provides it.
type Memory interface {
	Recall(ctx context.Context, participantID string) (models.Memory, error)
	Notes(ctx context.Context, participantID string, n int) ([]models.Note, error)
	History(ctx context.Context, participantID, factID string) ([]models.FactVersion, error)
	Forget(ctx context.Context, f models.Forgetting) error
	ForgetAll(ctx context.Context, f models.Forgetting) (int, error)
}
