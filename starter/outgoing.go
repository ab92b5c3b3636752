package starter

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/internal/webhooks"
	"coachline/models"
)

const (
	webhooksPath = "/webhooks"
	webhookPath  = webhooksPath + "/{id}"
)

func toWebhook(w models.Webhook) models.Webhook {
	w.Types = append([]string{}, strings.Fields(w.Events)...)
	return w
}

func toWebhookDelivery(d models.WebhookDelivery) models.WebhookDelivery {
	d.Event = webhooks.EventID(d)
	if d.DeliveredAt == nil {
		d.Next = &d.NextAt
	}
	return d
}

type webhookRequest struct {
	ID string `path:"id" maxLength:"64" doc:"Id of a webhook."`
}

type newWebhookRequest struct {
	Body api.NewWebhook
}

type webhookChangeRequest struct {
	ID      string `path:"id" maxLength:"64" doc:"Id of a webhook."`
	IfMatch string `header:"If-Match" maxLength:"32" doc:"Version that the change is based on; refused with 412 when it is not the newest."`
	Body    api.WebhookChange
}

type webhookAnswer struct {
	ETag string `header:"ETag" doc:"Version of the webhook, for If-Match."`
	Body api.Envelope[models.Webhook]
}

func answerWebhook(message string, row models.Webhook, secret string) *webhookAnswer {
	shown := toWebhook(row)
	shown.NewSecret = secret
	return &webhookAnswer{ETag: strconv.Quote(strconv.FormatInt(row.Version, 10)), Body: newAnswer(message, shown).Body}
}

type replayRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"Id of a webhook."`
	Body api.WebhookReplay
}

// webhookRoutes answers what concerns webhooks.
type webhookRoutes struct {
	base
	webAllow []netip.AddrPort
	webhooks *store.Webhooks
}

func (h *webhookRoutes) register(router huma.API) {
	bodies := []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	register(router, route{method: http.MethodPost, path: webhooksPath, id: "create-webhook", isSecret: true, needs: auth.WebhookChange,
		summary: "Tell a receiver outside of what happens", status: http.StatusCreated, errors: bodies}, h.createWebhook)
	register(router, route{method: http.MethodGet, path: webhooksPath, id: "list-webhooks", needs: auth.WebhookRead, summary: "Webhooks, oldest first"}, h.listWebhooks)
	register(router, route{method: http.MethodGet, path: webhookPath, id: "get-webhook", needs: auth.WebhookRead, summary: "One webhook",
		errors: []int{http.StatusNotFound}}, h.showWebhook)
	register(router, route{method: http.MethodPut, path: webhookPath, id: "change-webhook", needs: auth.WebhookChange, summary: "Change a webhook, or its secret",
		errors: append([]int{http.StatusNotFound, http.StatusPreconditionFailed}, bodies...)}, h.changeWebhook)
	registerPatch(router, merging[PatchInput, api.WebhookChange, webhookAnswer]{
		route:   route{path: webhookPath, id: "patch-webhook", needs: auth.WebhookChange, summary: "Change or clear some fields of a webhook"},
		cleared: map[string]any{"study_id": "", "events": []string{}, "rotate_secret": nil},
		change: func(ctx context.Context, in *PatchInput, ifMatch string, body api.WebhookChange) (*webhookAnswer, error) {
			return h.changeWebhook(ctx, &webhookChangeRequest{ID: in.ID, IfMatch: ifMatch, Body: body})
		},
	})
	register(router, route{method: http.MethodDelete, path: webhookPath, id: "delete-webhook", needs: auth.WebhookChange, summary: "Remove a webhook and what it was still to be told",
		errors: []int{http.StatusNotFound}}, h.deleteWebhook)
	register(router, route{method: http.MethodPost, path: webhookPath + "/test", id: "test-webhook", needs: auth.WebhookChange, summary: "Send a webhook an event of type webhook.test",
		errors: []int{http.StatusNotFound}}, h.testWebhook)
	register(router, route{method: http.MethodGet, path: webhookPath + "/deliveries", id: "list-webhook-deliveries", needs: auth.WebhookRead, summary: "Events of a webhook, newest first",
		errors: []int{http.StatusNotFound}}, h.listDeliveries)
	register(router, route{method: http.MethodPost, path: webhookPath + "/replay", id: "replay-webhook", needs: auth.WebhookChange, summary: "Deliver again what happened since an instant",
		errors: append([]int{http.StatusNotFound}, bodies...)}, h.replayWebhook)
}

// checkWebhook refuses an address or types of events that cannot be.
func (h *webhookRoutes) checkWebhook(address *string, events []string) error {
	if address != nil {
		if err := webhooks.CheckURL(*address, h.webAllow); err != nil {
			return err
		}
	}
	for _, event := range events {
		if !slices.Contains(models.WebhookEvents(), event) {
			return models.BadField("events", "%q is no type of events; the types are %s", event, strings.Join(models.WebhookEvents(), ", "))
		}
	}
	return nil
}

func (h *webhookRoutes) createWebhook(ctx context.Context, in *newWebhookRequest) (*created[models.Webhook], error) {
	const doing = "adding the webhook"
	if err := h.checkWebhook(&in.Body.URL, in.Body.Events); err != nil {
		return nil, h.toFailure(doing, err)
	}
	id, err := newRandomID("whk_")
	if err != nil {
		return nil, h.toFailure(doing, err)
	}
	secret := webhooks.NewSecret()
	saved, err := h.webhooks.AddWebhook(ctx, models.Webhook{
		ID: id, URL: in.Body.URL, StudyID: in.Body.StudyID, Events: models.JoinEventTypes(in.Body.Events), Secret: secret,
		State: models.WebhookActive, CreatedBy: actorOf(ctx), CreatedAt: h.now(),
	})
	if err != nil {
		return nil, h.toFailure(doing, err)
	}
	out := toWebhook(saved)
	out.NewSecret = secret
	return newCreated(webhooksPath+"/"+id, "Webhook added; its secret is shown this once", out), nil
}

func (h *webhookRoutes) listWebhooks(ctx context.Context, _ *struct{}) (*answer[api.WebhookList], error) {
	rows, err := h.webhooks.List(ctx)
	return newAnswer("", api.WebhookList{Webhooks: showAll(rows, toWebhook)}), h.toFailure("listing webhooks", err)
}

func (h *webhookRoutes) showWebhook(ctx context.Context, in *webhookRequest) (*webhookAnswer, error) {
	row, err := h.webhooks.Webhook(ctx, in.ID)
	return answerWebhook("", row, ""), h.toFailure("reading the webhook", asMissing("webhook", err))
}

func (h *webhookRoutes) changeWebhook(ctx context.Context, in *webhookChangeRequest) (*webhookAnswer, error) {
	const doing = "changing the webhook"
	want, err := parseIfMatch(in.IfMatch)
	if err != nil {
		return nil, h.toFailure(doing, err)
	}
	if err := h.checkWebhook(in.Body.URL, in.Body.Events); err != nil {
		return nil, h.toFailure(doing, err)
	}
	change := models.WebhookChange{
		ID: in.ID, IfMatch: want, URL: in.Body.URL, StudyID: in.Body.StudyID, Events: in.Body.Events, State: in.Body.State,
		Actor: actorOf(ctx), Now: h.now(),
	}
	secret := ""
	if in.Body.RotateSecret {
		secret = webhooks.NewSecret()
		change.Secret = &secret
	}
	saved, err := h.webhooks.ChangeWebhook(ctx, change)
	return answerWebhook(describeChanged(in.Body, "Webhook changed"), saved, secret), h.toFailure(doing, asMissing("webhook", err))
}

func (h *webhookRoutes) deleteWebhook(ctx context.Context, in *webhookRequest) (*answer[models.Webhook], error) {
	row, err := h.webhooks.Webhook(ctx, in.ID)
	if err == nil {
		err = h.webhooks.RemoveWebhook(ctx, in.ID, actorOf(ctx), h.now())
	}
	return newAnswer("Webhook removed", toWebhook(row)), h.toFailure("removing the webhook", asMissing("webhook", err))
}

func (h *webhookRoutes) testWebhook(ctx context.Context, in *webhookRequest) (*answer[models.WebhookDelivery], error) {
	row, err := h.webhooks.AddTestDelivery(ctx, in.ID, actorOf(ctx), h.now())
	return newAnswer("The test will be delivered within seconds; see the deliveries", toWebhookDelivery(row)), h.toFailure("testing the webhook", asMissing("webhook", err))
}

func (h *webhookRoutes) listDeliveries(ctx context.Context, in *models.DeliveryQuery) (*answer[api.WebhookDeliveryPage], error) {
	const doing = "listing webhook deliveries"
	if _, err := h.webhooks.Webhook(ctx, in.WebhookID); err != nil {
		return nil, h.toFailure(doing, asMissing("webhook", err))
	}
	query := *in
	query.Limit++
	rows, err := h.webhooks.Deliveries(ctx, query)
	if err != nil {
		return nil, h.toFailure(doing, err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.WebhookDelivery) string { return strconv.FormatInt(last.ID, 10) })
	return newAnswer("", api.WebhookDeliveryPage{Deliveries: showAll(rows, toWebhookDelivery), NextCursor: next}), nil
}

func (h *webhookRoutes) replayWebhook(ctx context.Context, in *replayRequest) (*answer[api.WebhookReplayed], error) {
	now := h.now()
	if in.Body.Since.After(now) {
		return nil, h.toFailure("replaying the webhook", models.BadField("since", "must not be in the future"))
	}
	count, err := h.webhooks.ReplayDeliveries(ctx, in.ID, actorOf(ctx), in.Body.Since.Truncate(time.Microsecond), now)
	return newAnswer("Events will be delivered again, with the ids they had", api.WebhookReplayed{Events: count}), h.toFailure("replaying the webhook", asMissing("webhook", err))
}
