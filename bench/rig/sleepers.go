package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/wait"
	"coachline/models"
)

// Seeder puts people to sleep without a greeting: their rows are those of an
// enrolment, and their run begins with the state that a run hands to the next
// one, so that it holds what a run holds that was continued as new.
type Seeder struct {
	product *Product
	conns   *connect.Connections
}

// NewSeeder reaches the tables and the server as the product does, with its
// settings and keys.
func (p *Product) NewSeeder(ctx context.Context) (*Seeder, error) {
	conns, err := connect.Open(ctx, p.settings, client.MetricsNopHandler)
	if err != nil {
		return nil, fmt.Errorf("reaching the product's tables: %w", err)
	}
	return &Seeder{product: p, conns: conns}, nil
}

// Close lets go of the connections.
func (s *Seeder) Close() error { return s.conns.Close() }

// sleeperSchedule names the one schedule of a sleeper.
const sleeperSchedule = "daily"

// Sleep adds a person who sleeps until a daily prompt at an instant.
func (s *Seeder) Sleep(ctx context.Context, phone string, n int, wake time.Time) error {
	now := time.Now().UTC().Truncate(time.Microsecond)
	who := models.Participant{
		ID: fmt.Sprintf("conv_%024x", n), Phone: phone, PersonTexts: models.PersonTexts[string]{Name: "Ann"}, Timezone: time.UTC.String(),
		Status: models.StatusActive, Mode: models.ModeIntake, Channel: models.ChannelSMS, NextSeq: 1, EnrolledAt: now,
	}
	schedule := models.Schedule{
		ID: sleeperSchedule, Type: models.ScheduleFixed, At: wake.Format("15:04"),
		Next: models.Slot{Date: wake.Format(time.DateOnly), TargetAt: wake, SendAt: wake},
	}
	state := models.ParticipantState{
		ParticipantID: who.ID, Zone: who.Timezone, Status: who.Status, Mode: who.Mode, Greeted: true,
		Notices: models.AppliedNotices{Counted: true}, AttributesShown: true, Schedules: []models.Schedule{schedule},
		Due: []models.Due{{Kind: models.DueDailyPrompt, At: wake, Ref: sleeperSchedule}},
	}
	// The run comes first: the notice of the rows finds it there, and does not
	// start another one that greets.
	options := client.StartWorkflowOptions{
		ID: models.WorkflowID(who.ID), TaskQueue: models.QueueCoach,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(models.AttrStatus).ValueSet(string(who.Status)),
			temporal.NewSearchAttributeKeyKeyword(models.AttrMode).ValueSet(string(who.Mode)),
			temporal.NewSearchAttributeKeyTime(models.AttrEnrolledAt).ValueSet(now),
			temporal.NewSearchAttributeKeyTime(models.AttrNextDue).ValueSet(wake),
		),
		StaticSummary: "Coaching since " + now.Format(time.DateOnly),
	}
	if _, err := s.conns.Temporal.ExecuteWorkflow(ctx, options, models.WorkflowType, state); err != nil {
		return fmt.Errorf("starting a sleeper: %w", err)
	}
	if _, err := s.conns.Store.People.Enroll(ctx, who, "bench"); err != nil {
		return fmt.Errorf("adding a sleeper's rows: %w", err)
	}
	saved := models.SaveStateInput{ParticipantID: who.ID, Mode: who.Mode, Schedules: state.Schedules, Now: now}
	if err := s.conns.Store.Turns.SaveState(ctx, saved); err != nil {
		return fmt.Errorf("adding a sleeper's schedule: %w", err)
	}
	s.product.people.set(phone, who.ID)
	return nil
}

// Settle waits until the relay has delivered every notice.
func (s *Seeder) Settle(ctx context.Context) error {
	for {
		waiting, err := s.conns.Store.Notices.PendingNotices(ctx, time.Now(), 1)
		if err != nil {
			return fmt.Errorf("waiting for the relay: %w", err)
		}
		if len(waiting) == 0 {
			return nil
		}
		if err := wait.For(ctx, time.Second); err != nil {
			return err
		}
	}
}

// Rouse signals a participant with a text that was delivered before: the run
// wakes, sees that the text is not new, and sleeps on. The task of it is done by
// the current build, unless the run is pinned to another one; such a run is
// continued as new on the current build.
func (s *Seeder) Rouse(ctx context.Context, workflowID string) error {
	err := s.conns.Temporal.SignalWorkflow(ctx, workflowID, "", models.SignalMessageReceived, models.MessageReceived{})
	if err != nil {
		return fmt.Errorf("waking a sleeper: %w", err)
	}
	return nil
}

// deployment is the name of the product's worker deployment.
const deployment = "coachline"

// Build is the build that the product's tasks go to.
func (r *Rig) Build(ctx context.Context) (string, error) {
	got, err := r.temporal.WorkerDeploymentClient().GetHandle(deployment).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	if err != nil {
		return "", fmt.Errorf("asking for the current build: %w", err)
	}
	if got.Info.RoutingConfig.CurrentVersion == nil {
		return "", errors.New("asking for the current build: there is none; COACH_DEPLOYMENT_VERSIONING=off cannot be measured")
	}
	return got.Info.RoutingConfig.CurrentVersion.BuildID, nil
}

const listPage = 1000

// notOnBuild are the participants whose newest task was not done by a build.
func notOnBuild(build string) string {
	return fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND TemporalWorkerDeploymentVersion != '%s:%s'", models.WorkflowType, deployment, build)
}

// NotOnBuild lists the workflows of participants whose newest task was not done
// by a build.
func (r *Rig) NotOnBuild(ctx context.Context, build string) ([]string, error) {
	ask := &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: listPage, Query: notOnBuild(build)}
	var ids []string
	for {
		got, err := r.temporal.ListWorkflow(ctx, ask)
		if err != nil {
			return nil, fmt.Errorf("listing participants that are not on build %s: %w", build, err)
		}
		for _, one := range got.GetExecutions() {
			ids = append(ids, one.GetExecution().GetWorkflowId())
		}
		if ask.NextPageToken = got.GetNextPageToken(); len(ask.NextPageToken) == 0 {
			return ids, nil
		}
	}
}

// CountNotOnBuild is the length of that list.
func (r *Rig) CountNotOnBuild(ctx context.Context, build string) (int, error) {
	got, err := r.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace, Query: notOnBuild(build)})
	if err != nil {
		return 0, fmt.Errorf("counting participants that are not on build %s: %w", build, err)
	}
	return int(got.GetCount()), nil
}

// MakeCurrent makes the build current that the newest worker has, unless it
// did so itself, and returns its name.
func (r *Rig) MakeCurrent(ctx context.Context, old string) (string, error) {
	handle := r.temporal.WorkerDeploymentClient().GetHandle(deployment)
	pinned, build := r.Product.settings.Worker.Versioning == config.VersioningPinned, ""
	err := pollUntil(ctx, func(ctx context.Context) bool {
		got, err := handle.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
		if err != nil {
			return false
		}
		if current := got.Info.RoutingConfig.CurrentVersion; current != nil && current.BuildID != old {
			build = current.BuildID
			return true
		}
		for _, version := range got.Info.VersionSummaries {
			if pinned && version.Version.BuildID != old {
				// Until all of its queues are known this is refused, and tried again.
				_, _ = handle.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: version.Version.BuildID})
			}
		}
		return false
	})
	if err != nil {
		return "", fmt.Errorf("waiting for a build other than %s to be current (a benchmark that is built with -buildvcs=false has two): %w", old, err)
	}
	return build, nil
}

// AnotherBuild makes a copy of this program that counts as another build: a
// build of changed sources is named by the digest of its file.
func (r *Rig) AnotherBuild() (path string, err error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	in, err := os.Open(own)
	if err != nil {
		return "", fmt.Errorf("opening this program: %w", err)
	}
	defer in.Close()
	path = filepath.Join(r.dir, "another-build")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700) //nolint:gosec // a program is to be run
	if err != nil {
		return "", fmt.Errorf("copying this program: %w", err)
	}
	_, err = io.Copy(out, in)
	if err == nil {
		_, err = io.WriteString(out, "\nanother build\n")
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return "", fmt.Errorf("copying this program: %w", err)
	}
	return path, nil
}
