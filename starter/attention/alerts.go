package attention

import (
	"context"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"

	"coachline/internal/redact"
	"coachline/models"
)

// AlertsRequest selects a page of alerts.
type AlertsRequest struct {
	Unmarked bool  `query:"unmarked" doc:"Only those that no operator has judged."`
	Limit    int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor   int64 `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
}

// AlertView is a message that was taken for a crisis, and why.
type AlertView struct {
	ID            string           `json:"id"`
	ParticipantID string           `json:"participant_id"`
	At            time.Time        `json:"at"`
	Danger        models.Danger    `json:"danger" enum:"self_harm,harm,emergency"`
	Tier          string           `json:"tier" enum:"A,B" doc:"A pages a person, B is a weak sign."`
	Rule          string           `json:"rule" doc:"The rule that found it, or score for the classifier alone; empty for old alerts."`
	Kind          string           `json:"kind" doc:"The kind of statement that the rule looks for."`
	Score         float64          `json:"score" doc:"What the classifier gave the message."`
	Escalated     bool             `json:"escalated" doc:"It was a weak sign, and not the first within 24 hours."`
	Answered      bool             `json:"answered" doc:"The safety text answers it."`
	PagedAt       *time.Time       `json:"paged_at,omitempty"`
	ClearedAt     *time.Time       `json:"cleared_at,omitempty"`
	Mark          models.AlertMark `json:"mark,omitempty" enum:"right,wrong"`
	MarkedBy      string           `json:"marked_by,omitempty"`
	MarkedAt      *time.Time       `json:"marked_at,omitempty"`
}

// AlertPage is one page, newest first; NextCursor is null on the last.
type AlertPage struct {
	Alerts     []AlertView `json:"alerts" nullable:"false"`
	NextCursor *string     `json:"next_cursor"`
}

func alertViewOf(row models.Alert) AlertView {
	return AlertView{
		ID: row.ID, ParticipantID: row.ParticipantID, At: row.CreatedAt.UTC(), Danger: models.Danger(row.Danger), Tier: row.Tier,
		Rule: row.Rule, Kind: row.Kind, Score: row.Score, Escalated: row.Escalated, Answered: row.Answer,
		PagedAt: row.PagedAt, ClearedAt: row.ClearedAt, Mark: row.Mark, MarkedBy: row.MarkedBy, MarkedAt: row.MarkedAt,
	}
}

// Alerts returns a page of alerts.
func (r *Room) Alerts(ctx context.Context, in *AlertsRequest) (AlertPage, error) {
	rows, err := r.cfg.Desk.Alarms(ctx, models.AlertQuery{BeforeInbound: in.Cursor, Unmarked: in.Unmarked, Limit: in.Limit})
	page := AlertPage{Alerts: make([]AlertView, 0, len(rows))}
	for _, row := range rows {
		page.Alerts = append(page.Alerts, alertViewOf(row))
	}
	if err == nil && len(rows) == in.Limit {
		cursor := strconv.FormatInt(rows[len(rows)-1].InboundID, 10)
		page.NextCursor = &cursor
	}
	return page, err
}

// MarkRequest judges an alert.
type MarkRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Mark models.AlertMark `json:"mark" enum:"right,wrong"`
	}
}

// Mark keeps what an operator says of an alert; the newest mark counts. Safe to
// repeat. models.ErrNotFound for an unknown alert.
func (r *Room) Mark(ctx context.Context, in *MarkRequest) (AlertView, error) {
	row, err := r.cfg.Desk.MarkAlarm(ctx, models.AlertMarking{AlarmID: in.ID, Mark: in.Body.Mark, Actor: r.cfg.Actor, Now: r.cfg.Now()})
	return alertViewOf(row), err
}

// SheetLine is one line of a sheet: a message that an operator has judged, with
// numbers, names of places on the web and the like masked.
type SheetLine struct {
	Language string `json:"language" doc:"ISO 639-1, of the participant's locale."`
	Sheet    string `json:"sheet" enum:"crisis,negative"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
}

// Sheet is all that operators have judged, as lines of the sheets that screening
// is trained on and scored with.
type Sheet struct {
	Lines []SheetLine `json:"lines" nullable:"false"`
}

// SheetRequest takes nothing.
type SheetRequest struct{}

// Sheet returns the messages that operators have judged. They are personal data
// also when masked, and need a person to read them before they are shared.
func (r *Room) Sheet(ctx context.Context, _ *SheetRequest) (Sheet, error) {
	texts, err := r.cfg.Desk.MarkedTexts(ctx)
	sheet := Sheet{Lines: make([]SheetLine, 0, len(texts))}
	for _, text := range texts {
		line := SheetLine{Language: languageOf(text.Locale), Sheet: "crisis", Kind: text.Kind}
		if text.Mark == models.MarkWrong {
			line.Sheet = "negative"
		}
		if line.Kind == "" {
			line.Kind = "other"
		}
		line.Text = strings.Join(strings.Fields(redact.Scrub(text.Text)), " ")
		sheet.Lines = append(sheet.Lines, line)
	}
	return sheet, err
}

// languageOf is the language of a locale, English where it names none.
func languageOf(locale string) string {
	tag, err := language.Parse(locale)
	if base, confidence := tag.Base(); err == nil && confidence != language.No && !tag.IsRoot() {
		return base.String()
	}
	return "en"
}
