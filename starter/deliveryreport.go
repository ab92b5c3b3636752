package starter

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/sms"
	"coachline/models"
	"coachline/models/wire"
)

const (
	deliveryPath = "/delivery"
	// lateAfter is how long after its target a prompt counts as late.
	lateAfter = 5 * time.Minute
)

type deliveryRequest struct {
	Days   int    `query:"days" minimum:"1" maximum:"90" default:"7" doc:"How many UTC days, today among them."`
	Sender string `query:"sender" maxLength:"64" doc:"Only texts that this number or messaging service posted."`
}

func (h *reportRoutes) registerDelivery(router huma.API) {
	register(router, route{method: http.MethodGet, path: deliveryPath, id: "get-delivery", needs: auth.DeliveryRead,
		summary: "How texts fared: failures by code, volume by day and sender, lateness of prompts"}, h.getDelivery)
}

func (h *reportRoutes) getDelivery(ctx context.Context, in *deliveryRequest) (*answer[api.DeliveryReport], error) {
	until := h.now().UTC()
	from := until.Truncate(24*time.Hour).AddDate(0, 0, 1-in.Days)
	rows, err := h.reports.DeliveryReport(ctx, from, until, in.Sender)
	if err != nil {
		return nil, h.toFailure("reading the delivery of texts", err)
	}
	senders := toDeliverySenders(rows.Groups)
	if in.Sender != "" {
		rows.Inbound = nil // whose sender those went to is not in the ledger
		rows.Groups = slices.DeleteFunc(rows.Groups, func(g models.DeliveryGroup) bool { return g.Sender != in.Sender })
	}
	return newAnswer("", api.DeliveryReport{
		From: from, Until: until, Days: toDeliveryDays(rows, from, in.Days), Senders: senders, Failures: toDeliveryFailures(rows.Groups),
		Prompts: toPromptLateness(rows), Unknown: toUnknownSends(rows.Groups),
	}), nil
}

// isFailed says whether the carrier refused a text or gave it up.
func isFailed(status wire.OutboxStatus) bool {
	return status == wire.OutboxFailed || status == wire.OutboxUndelivered
}

func isDelivered(status wire.OutboxStatus) bool {
	return status == wire.OutboxDelivered || status == wire.OutboxRead
}

// toDeliverySenders adds up the texts of each sender, by its name.
func toDeliverySenders(groups []models.DeliveryGroup) []api.DeliverySender {
	senders := []api.DeliverySender{}
	for _, group := range groups {
		i := slices.IndexFunc(senders, func(s api.DeliverySender) bool { return s.Sender == group.Sender })
		if i < 0 {
			i = len(senders)
			senders = append(senders, api.DeliverySender{Sender: group.Sender})
		}
		senders[i].Out += group.Texts
		senders[i].Segments += group.Segments
		if isDelivered(group.Status) {
			senders[i].Delivered += group.Texts
		}
		if isFailed(group.Status) {
			senders[i].Failed += group.Texts
		}
	}
	slices.SortFunc(senders, func(a, b api.DeliverySender) int { return cmp.Compare(a.Sender, b.Sender) })
	return senders
}

func toDeliveryDays(rows models.DeliveryReport, from time.Time, count int) []api.DeliveryDay {
	days := make([]api.DeliveryDay, count)
	index := map[string]*api.DeliveryDay{}
	for i := range days {
		days[i].Day = from.AddDate(0, 0, i).Format(time.DateOnly)
		index[days[i].Day] = &days[i]
	}
	for _, group := range rows.Groups {
		day, ok := index[group.Day]
		if !ok {
			continue
		}
		day.Out += group.Texts
		day.Segments += group.Segments
		day.Uncounted += group.Uncounted
		if isDelivered(group.Status) {
			day.Delivered += group.Texts
		}
		if isFailed(group.Status) {
			day.Failed += group.Texts
		}
	}
	for _, row := range rows.Inbound {
		if day, ok := index[row.Day]; ok {
			day.In += row.Texts
		}
	}
	return days
}

// toDeliveryFailures adds up the failed texts of each code, the most frequent first.
func toDeliveryFailures(groups []models.DeliveryGroup) []api.DeliveryFailure {
	failures := []api.DeliveryFailure{}
	for _, group := range groups {
		if !isFailed(group.Status) {
			continue
		}
		i := slices.IndexFunc(failures, func(f api.DeliveryFailure) bool { return f.Code == group.Code })
		if i < 0 {
			i = len(failures)
			failures = append(failures, api.DeliveryFailure{Code: group.Code, Meaning: sms.Meaning(group.Code), NextStep: sms.NextStep(group.Code)})
		}
		failures[i].Texts += group.Texts
		if at := time.Unix(group.Newest, 0).UTC(); at.After(failures[i].NewestAt) {
			failures[i].NewestAt = at
		}
	}
	slices.SortFunc(failures, func(a, b api.DeliveryFailure) int {
		return cmp.Or(cmp.Compare(b.Texts, a.Texts), cmp.Compare(a.Code, b.Code))
	})
	return failures
}

func toUnknownSends(groups []models.DeliveryGroup) api.UnknownSends {
	var unknown api.UnknownSends
	for _, group := range groups {
		if group.Status != wire.OutboxUnknown {
			continue
		}
		unknown.Texts += group.Texts
		if at := time.Unix(group.Oldest, 0).UTC(); unknown.OldestAt == nil || at.Before(*unknown.OldestAt) {
			unknown.OldestAt = &at
		}
	}
	return unknown
}

func toPromptLateness(rows models.DeliveryReport) api.PromptLateness {
	late := slices.Sorted(slices.Values(rows.Lateness))
	out := api.PromptLateness{Prompts: len(late), Cut: rows.Cut}
	if len(late) == 0 {
		return out
	}
	// The nearest rank: the smallest value that so many percent do not exceed.
	rank := func(percent int) float64 { return late[(len(late)*percent+99)/100-1].Seconds() }
	out.MedianSeconds, out.P95Seconds = rank(50), rank(95)
	for _, d := range late {
		if d > lateAfter {
			out.Late++
		}
	}
	return out
}
