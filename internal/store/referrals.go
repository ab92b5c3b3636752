package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"coachline/internal/region"
	"coachline/internal/wrap"
	"coachline/models"
)

// Referrals counts how often people of a year were told numbers to call in danger, by the
// safety text or by the coach: by country, state, kind and month of UTC. Groups of fewer
// than models.FewestReferrals are counted together, so that no row points at a person. A
// person who was erased has no country.
func (s *Reports) Referrals(ctx context.Context, year int) (models.ReferralReport, error) {
	from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	var alerts []models.Alert
	err := s.db.Reader(ctx).Select("participant_id", "inbound_id", "safety", "created_at").
		Where("(answer OR rule = ?) AND created_at >= ? AND created_at < ?", models.RuleCoach, instant(from), instant(from.AddDate(1, 0, 0))).Find(&alerts).Error
	if err != nil {
		return models.ReferralReport{}, wrap.Error(classify(err), "counting referrals")
	}
	places := map[models.Alert]models.Referral{}
	counts := map[models.Referral]int{}
	for _, alert := range alerts {
		of := models.Alert{ParticipantID: alert.ParticipantID}
		if of.ParticipantID == "" {
			of.InboundID = alert.InboundID
		}
		place, isKnown := places[of]
		if !isKnown {
			if place, err = s.placeOf(ctx, of); err != nil {
				return models.ReferralReport{}, wrap.Error(classify(err), "reading where people are")
			}
			places[of] = place
		}
		place.Kind, place.Month = alert.Safety, alert.CreatedAt.UTC().Format("2006-01")
		counts[place]++
	}
	return newReferralReport(year, counts), nil
}

// placeOf says where a person is, or the sender of a text who is not enrolled.
func (s *Reports) placeOf(ctx context.Context, of models.Alert) (models.Referral, error) {
	var phone, locale string
	if of.ParticipantID != "" {
		var rows []models.Participant
		if err := s.db.Reader(ctx).Select("id", "phone", "locale").Where("id = ?", of.ParticipantID).Limit(1).Find(&rows).Error; err != nil || len(rows) == 0 {
			return models.Referral{}, err
		}
		phone, locale = rows[0].Phone, rows[0].Locale
	} else {
		var rows []models.Inbound
		if err := s.db.Reader(ctx).Select("id", "provider_sid", "from").Where("id = ?", of.InboundID).Limit(1).Find(&rows).Error; err != nil || len(rows) == 0 {
			return models.Referral{}, err
		}
		phone = rows[0].From
	}
	return models.Referral{Country: region.CountryOf(phone, locale), State: region.StateOf(phone)}, nil
}

func newReferralReport(year int, counts map[models.Referral]int) models.ReferralReport {
	out := models.ReferralReport{Year: year, Groups: []models.ReferralGroup{}}
	for _, group := range slices.SortedFunc(maps.Keys(counts), func(a, b models.Referral) int {
		return cmp.Or(cmp.Compare(a.Month, b.Month), cmp.Compare(a.Country, b.Country), cmp.Compare(a.State, b.State), cmp.Compare(a.Kind, b.Kind))
	}) {
		out.Total += counts[group]
		if counts[group] < models.FewestReferrals {
			out.InSmallGroups += counts[group]
			continue
		}
		out.Groups = append(out.Groups, models.ReferralGroup{Referral: group, Count: counts[group]})
	}
	return out
}
