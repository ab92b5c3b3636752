package starter

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/text/language"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/redact"
	"coachline/internal/screening"
	"coachline/internal/store"
	"coachline/models"
)

const alertsPath = "/alerts"

// alertRoutes answers what concerns alerts.
type alertRoutes struct {
	base
	alerts *store.Alerts
}

func (h *alertRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: alertsPath, id: "list-alerts", needs: auth.AttentionRead,
		summary: "Messages that were taken for a crisis and why, newest first"}, h.listAlerts)
	register(router, route{method: http.MethodGet, path: alertsPath + "/{id}/message", id: "get-alert-message", needs: auth.PersonalRead, reads: readConversation,
		summary: "An alert with its message and who wrote it", errors: []int{http.StatusNotFound}}, h.getAlertMessage)
	register(router, route{method: http.MethodPost, path: alertsPath + "/{id}/mark", id: "mark-alert", needs: auth.AlertMark, summary: "Say whether an alert was right",
		errors: []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusNotFound}}, h.markAlert)
	register(router, route{method: http.MethodPost, path: alertsPath + "/{id}/acknowledge", id: "acknowledge-alert", needs: auth.AttentionClear,
		summary: "Say that you see to an alert, so that it does not page again", errors: []int{http.StatusNotFound}}, h.acknowledgeAlert)
	register(router, route{method: http.MethodGet, path: alertsPath + "/sheet", id: "export-alerts", needs: auth.AlertMark, reads: readExport,
		summary: "What operators have judged, as lines of a screening sheet"}, h.exportAlerts)
}

func (h *alertRoutes) listAlerts(ctx context.Context, in *models.AlertQuery) (*answer[api.AlertPage], error) {
	query := *in
	query.Limit++
	rows, err := h.alerts.List(ctx, query)
	if err != nil {
		return nil, h.toFailure("list-alerts", err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.Alert) string { return strconv.FormatInt(last.InboundID, 10) })
	show := func(row models.Alert) models.Alert { return toAlert(row, h.now()) }
	return newAnswer("", api.AlertPage{Alerts: showAll(rows, show), NextCursor: next}), nil
}

func toAlert(row models.Alert, now time.Time) models.Alert {
	if row.AcknowledgedAt != nil {
		now = *row.AcknowledgedAt
	}
	row.WaitedSeconds = int64(now.Sub(row.CreatedAt) / time.Second)
	return row
}

type alertRequest struct {
	ID string `path:"id" maxLength:"64"`
}

// getAlertMessage shows an alert of a participant, or of a number that is not enrolled, with
// the message that raised it.
func (h *alertRoutes) getAlertMessage(ctx context.Context, in *alertRequest) (*answer[models.AlertMessage], error) {
	row, err := h.alerts.AlertText(ctx, in.ID)
	row.Alert, row.LookReason = toAlert(row.Alert, h.now()), row.Alert.LookReason
	row.Words = screening.Screen(screening.Message{Body: row.Text}).Words
	return newAnswer("", row), h.toFailure("get-alert-message", asMissing("alert", err))
}

// acknowledgeAlert records that the caller sees to an alert; the first one stays.
func (h *alertRoutes) acknowledgeAlert(ctx context.Context, in *alertRequest) (*answer[models.Alert], error) {
	row, err := h.alerts.AcknowledgeAlert(ctx, models.AlertAcknowledgement{AlertID: in.ID, Actor: actorOf(ctx), Now: h.now()})
	return newAnswer("", toAlert(row, h.now())), h.toFailure("acknowledge-alert", asMissing("alert", err))
}

type markAlertRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body api.AlertMarking
}

// markAlert records what an operator says of an alert; the newest mark counts.
// It is safe to repeat.
func (h *alertRoutes) markAlert(ctx context.Context, in *markAlertRequest) (*answer[models.Alert], error) {
	row, err := h.alerts.MarkAlert(ctx, models.AlertMarking{AlertID: in.ID, Mark: in.Body.Mark, Actor: actorOf(ctx), Now: h.now()})
	return newAnswer("", toAlert(row, h.now())), h.toFailure("mark-alert", asMissing("alert", err))
}

// exportAlerts returns the messages that operators have judged. They are personal
// data also when masked, and need a person to read them before they are shared.
func (h *alertRoutes) exportAlerts(ctx context.Context, _ *noInput) (*answer[api.Sheet], error) {
	texts, err := h.alerts.MarkedTexts(ctx)
	return newAnswer("", api.Sheet{Lines: showAll(texts, toSheetLine)}), h.toFailure("export-alerts", err)
}

func toSheetLine(text models.MarkedText) api.SheetLine {
	line := api.SheetLine{Language: languageOf(text.Locale), Sheet: "crisis", Kind: text.Kind}
	if text.Mark == models.MarkWrong {
		line.Sheet = "negative"
	}
	if line.Kind == "" {
		line.Kind = "other"
	}
	line.Text = strings.Join(strings.Fields(redact.Scrub(text.Text)), " ")
	return line
}

// languageOf is the language of a locale, English where it names none.
func languageOf(locale string) string {
	tag, err := language.Parse(locale)
	if base, confidence := tag.Base(); err == nil && confidence != language.No && !tag.IsRoot() {
		return base.String()
	}
	return "en"
}
