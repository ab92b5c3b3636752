package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"coachline/internal/api"
	"coachline/models"
)

const studiesPath = "/studies"

func studyPath(id string) string { return studiesPath + "/" + url.PathEscape(id) }

// ListStudies prints all studies.
func (c *Commands) ListStudies(ctx context.Context) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: studiesPath}, func(w io.Writer, list api.StudyList) error {
		return renderStudies(w, list.Studies)
	})
}

// ShowStudy prints one study.
func (c *Commands) ShowStudy(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: studyPath(id)}, renderStudy)
}

// AddStudy adds a study in state draft.
func (c *Commands) AddStudy(ctx context.Context, body api.NewStudy) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: studiesPath, body: body}, renderStudy)
}

// ChangeStudy changes some fields of a study.
func (c *Commands) ChangeStudy(ctx context.Context, id string, body api.StudyChange) error {
	r := request{method: http.MethodPut, path: studyPath(id), body: body}
	return callAndShow(ctx, c, r, renderStudy)
}

// AddConsentText adds the next version of a study's consent text.
func (c *Commands) AddConsentText(ctx context.Context, id string, body api.NewConsentText) error {
	r := request{method: http.MethodPost, path: studyPath(id) + "/consent-texts", body: body}
	return callAndShow(ctx, c, r, func(w io.Writer, text api.ConsentText) error {
		_, err := fmt.Fprintf(w, "Version %d of the consent text in %s is in force.\n", text.Version, text.Locale)
		return err
	})
}

// ListConsentTexts prints the consent texts of a study.
func (c *Commands) ListConsentTexts(ctx context.Context, id string) error {
	r := request{method: http.MethodGet, path: studyPath(id) + "/consent-texts"}
	return callAndShow(ctx, c, r, func(w io.Writer, list api.ConsentTextList) error {
		for _, text := range list.Texts {
			if _, err := fmt.Fprintf(w, "%s version %d, %s by %s:\n%s\n\n", text.Locale, text.Version, text.CreatedAt.Format(time.DateOnly), text.CreatedBy, text.Body); err != nil {
				return err
			}
		}
		return nil
	})
}

// RecordStudyConsent records that a person agreed to their study, or withdrew.
func (c *Commands) RecordStudyConsent(ctx context.Context, participant string, body api.NewStudyConsent) error {
	r := request{method: http.MethodPost, path: participantPath(participant) + "/study-consents", body: body}
	return callAndShow(ctx, c, r, func(w io.Writer, row api.StudyConsent) error {
		text := fmt.Sprintf("The consent to study %s is recorded.\n", row.StudyID)
		if !row.Given {
			text = fmt.Sprintf("The withdrawal from study %s is recorded; the person has left the programme.\n", row.StudyID)
		}
		_, err := io.WriteString(w, text)
		return err
	})
}

func renderStudies(w io.Writer, list []api.Study) error {
	rows := [][]string{{"STUDY", "NAME", "STATE", "PLANNED", "ARMS", "STARTS", "ENDS"}}
	for _, s := range list {
		rows = append(rows, []string{
			s.ID, s.Name, string(s.State), strconv.Itoa(s.Planned), strconv.Itoa(len(s.Settings.Arms)), dateOr(s.StartsAt), dateOr(s.EndsAt),
		})
	}
	return writeTable(w, rows)
}

func dateOr(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return at.UTC().Format(time.DateOnly)
}

func renderStudy(w io.Writer, s api.Study) error {
	if err := renderStudies(w, []api.Study{s}); err != nil {
		return err
	}
	for _, arm := range s.Settings.Arms {
		if _, err := fmt.Fprintf(w, "arm %s, weight %d\n", arm.Name, arm.Weight); err != nil {
			return err
		}
	}
	if s.State == models.StudyDraft {
		_, err := fmt.Fprintf(w, "Take people in with: coachline study change %s --state recruiting\n", s.ID)
		return err
	}
	return nil
}
