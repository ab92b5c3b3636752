package starter

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/consort"
	"coachline/internal/trial"
	"coachline/models"
	"coachline/models/wire"
)

const (
	// progressLimit bounds a count of how a study goes, which ends with no caller.
	progressLimit = time.Minute
	// recruitmentDays is how many days a curve of recruitment has at most.
	recruitmentDays = 60
	oneDay          = 24 * time.Hour
)

func (h *studyRoutes) registerStudyProgress(router huma.API) {
	register(router, route{method: http.MethodGet, path: studyPath + "/progress", id: "get-study-progress", needs: auth.StudyRead,
		summary: "How a study goes: recruitment, retention, answers, delivery, balance, costs", errors: []int{http.StatusNotFound}}, h.getStudyProgress)
}

// progressRows is what was counted of a study, before the caller's permissions are
// applied.
type progressRows struct {
	study  models.Study
	counts models.StudyProgress
	at     time.Time
}

// progressReads has one count of a study for all who ask at the same time. It is safe
// for concurrent use.
type progressReads struct {
	mu      sync.Mutex
	byStudy map[string]*joined[progressRows]
}

func (r *progressReads) of(id string, read func(context.Context) (progressRows, error)) *joined[progressRows] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byStudy == nil {
		r.byStudy = map[string]*joined[progressRows]{}
	}
	if r.byStudy[id] == nil {
		r.byStudy[id] = &joined[progressRows]{read: read}
	}
	return r.byStudy[id]
}

func (h *studyRoutes) readProgress(ctx context.Context, id string) (progressRows, error) {
	ctx, cancel := context.WithTimeout(ctx, progressLimit)
	defer cancel()
	at := h.now().UTC()
	study, counts, err := h.reports.StudyProgress(ctx, id, at)
	return progressRows{study: study, counts: counts, at: at}, err
}

func (h *studyRoutes) getStudyProgress(ctx context.Context, in *studyRequest) (*answer[api.StudyProgress], error) {
	if _, err := h.studies.Study(ctx, in.ID); err != nil {
		return nil, h.toFailure("counting how the study goes", asMissing("study", err))
	}
	read := func(ctx context.Context) (progressRows, error) { return h.readProgress(ctx, in.ID) }
	rows, err := h.progress.of(in.ID, read).get(ctx)
	if err != nil {
		return nil, h.toFailure("counting how the study goes", err)
	}
	who, _ := auth.IdentityOf(ctx)
	return newAnswer("", toStudyProgress(rows, who)), nil
}

// toStudyProgress leaves out what the caller may not see.
func toStudyProgress(rows progressRows, who auth.Identity) api.StudyProgress {
	flow := toFlow(rows.counts.People)
	arms := who.Can(auth.AllocationRead)
	out := api.StudyProgress{
		Study: rows.study.ID, At: rows.at, Enrolled: flow.Enrolled(), Planned: rows.study.Planned,
		Recruitment: toRecruitment(rows), Flow: []api.FlowStep{}, Retention: toRetention(rows.counts), Response: toResponse(rows.counts.Response),
		Prompts: toPromptCounts(rows.counts.Prompts), Texts: toTextCounts(rows.counts.Texts), Decisions: toDecisionCounts(rows.counts.Decisions),
		Attention: []api.AttentionCount{}, Alerts: rows.counts.Alerts,
	}
	for _, step := range flow.Steps(arms) {
		out.Flow = append(out.Flow, api.FlowStep{Step: step.Name, People: step.People})
	}
	for _, row := range rows.counts.Attention {
		out.Attention = append(out.Attention, api.AttentionCount{Kind: row.Kind, People: int(row.Open)})
	}
	if arms {
		out.ArmResponse, out.Balance = toArmResponse(rows.counts.Response), copyNonNil(rows.counts.Balance)
	}
	if who.Can(auth.CostRead) {
		out.Costs = toStudyCosts(rows.counts.Costs, flow.Enrolled())
	}
	return out
}

func toFlow(groups []models.PeopleGroup) *consort.Flow {
	flow := &consort.Flow{}
	for _, g := range groups {
		p := models.StudyPerson{Status: g.Status, Arm: g.Arm, Withdrew: g.Withdrew}
		if g.Removed {
			p.RemovedAt = &time.Time{} // when it was, no step asks
		}
		flow.Add(p, g.People)
	}
	return flow
}

// toRecruitment adds up who was enrolled until the end of each day, from the first
// enrolment or the start of the study on.
func toRecruitment(rows progressRows) []api.RecruitmentDay {
	enrolled := map[string]int64{}
	first := rows.at
	if at := rows.study.StartsAt; at != nil && at.Before(first) {
		first = *at
	}
	for _, g := range rows.counts.People {
		enrolled[g.Day] += g.People
		if at, err := time.Parse(time.DateOnly, g.Day); err == nil && at.Before(first) {
			first = at
		}
	}
	first = first.UTC().Truncate(oneDay)
	days := int(rows.at.Sub(first)/oneDay) + 1
	step := (days + recruitmentDays - 1) / recruitmentDays
	out := []api.RecruitmentDay{}
	sum := int64(0)
	for n := range days {
		at := first.Add(time.Duration(n) * oneDay)
		sum += enrolled[at.Format(time.DateOnly)]
		if (days-1-n)%step == 0 {
			out = append(out, api.RecruitmentDay{Day: at.Format(time.DateOnly), Enrolled: sum, Planned: plannedUntil(rows.study, at.Add(oneDay))})
		}
	}
	return out
}

// plannedUntil returns how many people the study was to have at an instant, if they
// came evenly; nil where that is not planned.
func plannedUntil(study models.Study, at time.Time) *float64 {
	if study.Planned == 0 || study.StartsAt == nil || study.EndsAt == nil || !study.EndsAt.After(*study.StartsAt) {
		return nil
	}
	share := at.Sub(*study.StartsAt).Seconds() / study.EndsAt.Sub(*study.StartsAt).Seconds()
	return new(float64(study.Planned) * min(max(share, 0), 1))
}

func toProportion(answered, people int64) api.Proportion {
	low, high := trial.ProportionInterval(answered, people)
	return api.Proportion{People: people, Answered: answered, Share: float64(answered) / float64(people), Low: low, High: high}
}

// toRetention compares those who wrote in a week with all who have it behind them,
// also those who left meanwhile.
func toRetention(counts models.StudyProgress) []api.WeekRetention {
	var people, wrote [models.ProgressWeeks + 1]int64
	for _, g := range counts.People {
		for week := 1; week <= min(g.Weeks, models.ProgressWeeks); week++ {
			people[week] += g.People
		}
	}
	for _, w := range counts.Writers {
		wrote[w.Week] = w.People
	}
	out := []api.WeekRetention{}
	for week := 1; week < len(people) && people[week] > 0; week++ {
		out = append(out, api.WeekRetention{Week: week, Proportion: toProportion(wrote[week], people[week])})
	}
	return out
}

// toResponse adds up the arms of each day.
func toResponse(rows []models.DayResponse) []api.StudyDay {
	sums := map[int]models.DayResponse{}
	for _, row := range rows {
		sum := sums[row.Day]
		sum.People, sum.Answered = sum.People+row.People, sum.Answered+row.Answered
		sums[row.Day] = sum
	}
	out := []api.StudyDay{}
	for _, n := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, api.StudyDay{Day: n, Proportion: toProportion(sums[n].Answered, sums[n].People)})
	}
	return out
}

func toArmResponse(rows []models.DayResponse) []api.ArmStudyDay {
	out := []api.ArmStudyDay{}
	for _, row := range rows {
		if row.Arm != "" {
			out = append(out, api.ArmStudyDay{Arm: row.Arm, StudyDay: api.StudyDay{Day: row.Day, Proportion: toProportion(row.Answered, row.People)}})
		}
	}
	return out
}

func toPromptCounts(groups []models.PromptGroup) api.PromptCounts {
	limits := models.LatenessLimits()
	out := api.PromptCounts{Lateness: make([]api.LatePrompts, len(limits)+1), Unsent: []api.UnsentPrompt{}}
	for i, limit := range limits {
		out.Lateness[i].AtMostSeconds = new(limit.Seconds())
	}
	reported := map[models.PromptOutcome]int64{}
	for _, g := range groups {
		if !g.Sent {
			out.Unsent = append(out.Unsent, api.UnsentPrompt{State: g.State, Reason: g.Reason, Prompts: g.Prompts})
			continue
		}
		out.Sent += g.Prompts
		reported[cmp.Or(g.Outcome, models.OutcomeUnknown)] += g.Prompts
		out.Lateness[g.Lateness].Prompts += g.Prompts
	}
	for _, outcome := range []models.PromptOutcome{models.OutcomeDone, models.OutcomePartly, models.OutcomeNotDone, models.OutcomeUnknown} {
		out.Reported = append(out.Reported, api.ReportedPrompts{Outcome: outcome, Prompts: reported[outcome]})
	}
	return out
}

func toTextCounts(groups []models.TextGroup) api.TextCounts {
	var out api.TextCounts
	for _, g := range groups {
		switch g.Status {
		case wire.OutboxDelivered, wire.OutboxRead:
			out.Delivered += g.Texts
		case wire.OutboxFailed, wire.OutboxUndelivered:
			out.Failed += g.Texts
		case wire.OutboxUnknown:
			out.Unknown += g.Texts
		case wire.OutboxCanceled:
			out.Canceled += g.Texts
		case wire.OutboxReady, wire.OutboxSending, wire.OutboxAccepted, wire.OutboxQueued, wire.OutboxSent:
			out.Underway += g.Texts
		}
	}
	return out
}

func toDecisionCounts(groups []models.AvailabilityGroup) api.DecisionCounts {
	out := api.DecisionCounts{Unavailable: []api.Unavailable{}}
	for _, g := range groups {
		out.Points += g.Points
		if g.Available {
			out.Available += g.Points
			continue
		}
		out.Unavailable = append(out.Unavailable, api.Unavailable{Reason: g.Reason, Points: g.Points})
	}
	return out
}

// toStudyCosts adds up the kinds of each currency for a person; what has no price has
// no currency and is counted separately.
func toStudyCosts(groups []models.CostGroupSum, people int64) *api.StudyCosts {
	out := &api.StudyCosts{Sums: []api.StudyCost{}, PerPerson: []api.StudyCost{}}
	sums := map[string]int64{}
	for _, g := range groups {
		out.Sums = append(out.Sums, api.StudyCost{Kind: g.Kind, Currency: g.Currency, Micros: g.Micros, Unpriced: g.Unpriced})
		if g.Currency != "" {
			sums[g.Currency] += g.Micros
		}
	}
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		out.PerPerson = append(out.PerPerson, api.StudyCost{Currency: currency, Micros: sums[currency] / max(people, 1)})
	}
	return out
}
