package worker

import (
	"cmp"
	"context"
	"log/slog"

	lru "github.com/hashicorp/golang-lru/v2"

	"coachline/internal/agent"
	"coachline/internal/config"
	"coachline/internal/metrics"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/prompts"
)

// newStudies returns what is in force for each person. The texts of a study are
// checked as those of COACH_PROMPTS_DIR are, against the same tools.
func newStudies(cfg config.Config, rows *store.Store, m *metrics.Metrics, registry *tools.Registry, logger *slog.Logger) *study.Resolver {
	return study.New(study.Config{
		Studies: rows.Studies, Logger: logger, Report: m.StudyFaults, KnownTools: tools.Names(),
		LoadTexts: func(dir, programme string) (*prompts.Library, error) {
			library, _, err := loadLibrary(dir, cmp.Or(programme, cfg.Coaching.Programme), cfg.Replies.Focuses)
			if err == nil {
				err = checkPrompts(library, registry)
			}
			if err != nil {
				return nil, err
			}
			return library.With(textFacts(cfg.Coaching)), nil
		},
	})
}

// agents bounds how many combinations of settings are kept ready.
const agents = 64

// studyAgents answers each person with the agent of their study and arm.
type studyAgents struct {
	base    *agent.Agent
	studies *study.Resolver
	ready   *lru.Cache[agent.Overlay, *agent.Agent]
}

func newStudyAgents(base *agent.Agent, studies *study.Resolver) *studyAgents {
	ready, err := lru.New[agent.Overlay, *agent.Agent](agents)
	if err != nil { // for sizes below one only
		panic(err)
	}
	return &studyAgents{base: base, studies: studies, ready: ready}
}

// agentFor returns the agent with the settings that are in force for a person.
func (s *studyAgents) agentFor(ctx context.Context, p models.Participant) (*agent.Agent, error) {
	settings, err := s.studies.Resolve(ctx, p.StudyID, p.Arm)
	if err != nil {
		return nil, err
	}
	over := agent.Overlay{
		Prompts: settings.Prompts, Programme: settings.Programme, ChatModel: settings.Model, SmallModel: settings.SmallModel, Advice: settings.Advice,
	}
	over.History, over.FeedbackHistory = agent.HistoryOf(settings.HistoryLimit), agent.HistoryOf(settings.FeedbackHistory)
	if over == (agent.Overlay{}) {
		return s.base, nil
	}
	if known, ok := s.ready.Get(over); ok {
		return known, nil
	}
	made := s.base.With(over)
	s.ready.Add(over, made)
	return made, nil
}

// Respond implements activities.Responder.
func (s *studyAgents) Respond(ctx context.Context, in agent.StepInput) (models.Step, error) {
	own, err := s.agentFor(ctx, in.Context.Participant)
	if err != nil {
		return models.Step{}, err
	}
	return own.Respond(ctx, in)
}

// LookAgain implements activities.Responder.
func (s *studyAgents) LookAgain(ctx context.Context, c models.TurnContext, inboundID int64) models.LookVerdict {
	own, err := s.agentFor(ctx, c.Participant)
	if err != nil {
		return models.LookVerdict{State: models.LookFailed}
	}
	return own.LookAgain(ctx, c, inboundID)
}

// JudgeDraft implements activities.DraftJudge. Without the settings of the person nothing is
// sent.
func (s *studyAgents) JudgeDraft(ctx context.Context, c models.TurnContext, draft string) (sent, found string) {
	own, err := s.agentFor(ctx, c.Participant)
	if err != nil {
		return "", models.DescribeAdvice(models.AdviceFailed, "")
	}
	return own.JudgeDraft(ctx, c, draft)
}

// Worth implements activities.Keeper. It depends on no setting of a study.
func (s *studyAgents) Worth(c models.TurnContext) bool { return s.base.Worth(c) }

// Remember implements activities.Keeper.
func (s *studyAgents) Remember(ctx context.Context, c models.TurnContext) error {
	own, err := s.agentFor(ctx, c.Participant)
	if err != nil {
		return err
	}
	return own.Remember(ctx, c)
}
