package study

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"coachline/models"
	"coachline/prompts"
)

// RefreshInterval is how often a process asks whether a study has changed.
const RefreshInterval = 2 * time.Second

// Reader reads studies; the store does.
type Reader interface {
	Study(ctx context.Context, id string) (models.Study, error)
	// StudyVersions returns the version of every study.
	StudyVersions(ctx context.Context) (map[string]int64, error)
}

// Config is what a Resolver is made of.
type Config struct {
	Studies Reader
	// LoadTexts reads and checks a folder of texts for a programme's name; an empty
	// name is the installation's. Nil where texts are not used.
	LoadTexts func(dir, programme string) (*prompts.Library, error)
	// KnownTools are the names that may be left out; nil allows every name.
	KnownTools []string
	// Report is told how many settings of a study cannot be used; nil: none is told.
	Report func(studyID string, faults int)
	Logger *slog.Logger
}

// Resolver knows what is in force for every person. It is safe for use by several
// goroutines; a nil Resolver changes nothing for any person.
type Resolver struct {
	cfg     Config
	mu      sync.RWMutex
	entries map[string]entry
}

// entry is one version of a study. Arm "" holds what is in force for people
// without an arm.
type entry struct {
	version int64
	arms    map[string]Settings
}

// New returns a Resolver that knows no study yet.
func New(cfg Config) *Resolver {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Resolver{cfg: cfg, entries: map[string]entry{}}
}

// Resolve returns what is in force for the people of an arm; an empty study is the
// default one. A study that is not known yet, or as a draft, is read. An arm that the study does
// not have gets what the study says.
func (r *Resolver) Resolve(ctx context.Context, studyID, arm string) (Settings, error) {
	if r == nil {
		return Settings{}, nil
	}
	if studyID == "" {
		studyID = models.DefaultStudy
	}
	r.mu.RLock()
	known, ok := r.entries[studyID]
	r.mu.RUnlock()
	// No one is in a draft, so this person's study has changed since it was read.
	if !ok || known.arms[""].State == models.StudyDraft {
		var err error
		known, err = r.load(ctx, studyID)
		if errors.Is(err, models.ErrNotFound) {
			r.cfg.Logger.Error("study not found: its people are coached as the installation says", "study", studyID)
			return Settings{Study: studyID, Arm: arm}, nil
		}
		if err != nil {
			return Settings{}, fmt.Errorf("reading study %s: %w", studyID, err)
		}
	}
	return known.of(arm), nil
}

func (e entry) of(arm string) Settings {
	if settings, ok := e.arms[arm]; ok {
		return settings
	}
	settings := e.arms[""]
	settings.Arm = arm
	return settings
}

// Refresh reads the studies that have changed since. What was read before stays
// in force where that fails.
func (r *Resolver) Refresh(ctx context.Context) error {
	versions, err := r.cfg.Studies.StudyVersions(ctx)
	if err != nil {
		return fmt.Errorf("reading the versions of studies: %w", err)
	}
	var failed []error
	for id, version := range versions {
		r.mu.RLock()
		known, ok := r.entries[id]
		r.mu.RUnlock()
		if ok && known.version == version {
			continue
		}
		if _, err := r.load(ctx, id); err != nil {
			failed = append(failed, fmt.Errorf("reading study %s: %w", id, err))
		}
	}
	return errors.Join(failed...)
}

// Follow refreshes at once and then every RefreshInterval until ctx ends.
func (r *Resolver) Follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := r.Refresh(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("reading studies failed, trying again; what was read last is in force", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(RefreshInterval):
		}
	}
}

// Senders lists the senders of the studies that are known.
func (r *Resolver) Senders() []models.Sender {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []models.Sender
	for _, known := range r.entries {
		if sender := known.arms[""].Sender; !sender.IsZero() {
			out = append(out, sender)
		}
	}
	return out
}

// HasOver reports whether a study that is known is closed or archived.
func (r *Resolver) HasOver() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, known := range r.entries {
		if state := known.arms[""].State; state == models.StudyClosed || state == models.StudyArchived {
			return true
		}
	}
	return false
}

// load reads a study and keeps it, unless a newer version is known.
func (r *Resolver) load(ctx context.Context, id string) (entry, error) {
	row, err := r.cfg.Studies.Study(ctx, id)
	if err != nil {
		return entry{}, err
	}
	settings, err := row.ReadSettings()
	var faults []error
	if err != nil {
		faults = append(faults, err)
	}
	read := entry{version: row.Version, arms: map[string]Settings{}}
	arms := []string{""}
	for _, arm := range settings.Arms {
		arms = append(arms, arm.Name)
	}
	texts := textFolders{load: r.cfg.LoadTexts, programme: settings.Programme, read: map[string]*prompts.Library{}}
	for _, arm := range arms {
		in, problems := r.build(row, settings, arm, &texts)
		read.arms[arm] = in
		faults = append(faults, problems...)
	}
	r.reportFaults(row, faults)
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.entries[id]; ok && known.version > read.version {
		return known, nil
	}
	r.entries[id] = read
	return read, nil
}

func (r *Resolver) reportFaults(row models.Study, faults []error) {
	for _, fault := range faults {
		r.cfg.Logger.Error("setting of study cannot be used: the installation's is in force; correct the study", "study", row.ID, "version", row.Version, "error", fault)
	}
	if r.cfg.Report != nil {
		r.cfg.Report(row.ID, len(faults))
	}
}

// build returns what is in force for an arm, and what of its settings cannot be
// used.
func (r *Resolver) build(row models.Study, settings models.StudySettings, arm string, texts *textFolders) (Settings, []error) {
	overlay := settings.OverlayFor(arm)
	out := Settings{
		Study: row.ID, Version: row.Version, Arm: arm, State: row.State, Programme: settings.Programme,
		Sender: models.Sender{From: settings.From, MessagingService: settings.MessagingService},
		Model:  overlay.Model, SmallModel: overlay.SmallModel, Advice: models.AdviceCheck(overlay.AdviceCheck), ToolsOff: overlay.ToolsOff,
		DecisionPoints: settings.DecisionPoints != nil, reminders: overlay.Reminders, checkIns: overlay.CheckIns,
		PromptsDir: overlay.PromptsDir, HistoryLimit: overlay.HistoryLimit, FeedbackHistory: overlay.FeedbackHistory,
		maxPerDay: overlay.MaxPerDay, backOff: overlay.BackOff, support: settings.Support, terms: settings.TermsURL, safety: settings.SafetyURL,
	}
	var faults []error
	delay, err := parseDelay(overlay.ReminderDelay)
	if err != nil {
		faults = append(faults, fmt.Errorf("arm %q: reminder delay: %w", arm, err))
	}
	out.reminderDelay = delay
	quiet, err := parseQuiet(overlay.QuietHours)
	if err != nil {
		faults = append(faults, fmt.Errorf("arm %q: quiet hours: %w", arm, err))
	} else {
		out.quiet = quiet
	}
	if r.cfg.KnownTools != nil {
		if err := checkOverlay("", models.StudyOverlay{ToolsOff: overlay.ToolsOff}, r.cfg.KnownTools); err != nil {
			faults = append(faults, fmt.Errorf("arm %q: %w", arm, err))
		}
	}
	if out.Prompts, err = texts.library(overlay.PromptsDir); err != nil {
		faults = append(faults, fmt.Errorf("arm %q: prompts: %w", arm, err))
	}
	return out, faults
}

// textFolders reads each folder of a study once.
type textFolders struct {
	load      func(dir, programme string) (*prompts.Library, error)
	programme string
	read      map[string]*prompts.Library
}

// library returns the texts of a folder; nil for the installation's.
func (t *textFolders) library(dir string) (*prompts.Library, error) {
	if dir == "" || t.load == nil {
		return nil, nil //nolint:nilnil // the installation's are in force
	}
	if known, ok := t.read[dir]; ok {
		return known, nil
	}
	library, err := t.load(dir, t.programme)
	if err != nil {
		return nil, err
	}
	t.read[dir] = library
	return library, nil
}
