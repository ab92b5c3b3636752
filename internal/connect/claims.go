package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"coachline/internal/config"
	"coachline/models"
)

// treats matches words by which a text claims to diagnose or treat, in five languages;
// disclaims what denies it.
var (
	treats    = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:diagnos\p{L}*|treat(?:s|ing|ment)?|cures?|heals?|therap(?:y|ist|ies|eutic)|medical device|clinically proven|prescri(?:be|ption)\p{L}*|behandel\p{L}*|behandlung|heilt|heilung|therapie\p{L}*|therapeut\p{L}*|verschreib\p{L}*|tratamiento|tratar|cura(?:r|s)?|terapia|terapeuta|receta(?:r|s)?|traite(?:r|ment)?|soigne\p{L}*|gu[ée]ri\p{L}*|th[ée]rapi\p{L}*|tratamento|tratar|terapeuta)(?:$|[^\p{L}])`)
	disclaims = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:no|not|never|n't|cannot|nicht|nie|kein\p{L}*|ohne|sin|nunca|ni|pas|jamais|aucun\p{L}*|sans|não|nem|sem|without|instead of)(?:$|[^\p{L}])|n't`)
)

// CheckClaims reads the texts of the installation's and of each study's own folders for
// claims to diagnose or treat: a coach for general wellness makes none. It is a Warning
// that names the first of each file.
func CheckClaims(ctx context.Context, cfg config.Config) error {
	base, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	var rows []string
	err = errors.Join(base.Reader(ctx).Model(&models.Study{}).Pluck("settings", &rows).Error, base.Close())
	if err != nil {
		return fmt.Errorf("reading the studies: %w", err)
	}
	folders := []string{cfg.Worker.PromptsDir}
	for _, row := range rows {
		var settings models.StudySettings
		if json.Unmarshal([]byte(row), &settings) != nil {
			continue // the worker reports it
		}
		folders = append(folders, settings.PromptsDir)
		for _, arm := range settings.Arms {
			folders = append(folders, arm.Overlay.PromptsDir)
		}
	}
	slices.Sort(folders)
	var found []string
	for _, folder := range slices.Compact(folders) {
		if folder == "" {
			continue
		}
		claims, err := FindClaims(os.DirFS(folder))
		if err != nil {
			return fmt.Errorf("reading texts: %w", err)
		}
		for _, claim := range claims {
			found = append(found, folder+"/"+claim)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return Warning("texts that read as if the coach diagnosed or treated, which general wellness does not: " + strings.Join(found, "; "))
}

// FindClaims lists the files of a folder of texts in which a sentence claims to diagnose or
// treat, each with its first such word.
func FindClaims(files fs.FS) ([]string, error) {
	var found []string
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		raw, err := fs.ReadFile(files, path)
		if err != nil {
			return err //nolint:wrapcheck // it names the file
		}
		for sentence := range strings.FieldsFuncSeq(string(raw), func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
			if word := treats.FindString(sentence); word != "" && !disclaims.MatchString(sentence) {
				found = append(found, fmt.Sprintf("%s (%q)", path, strings.Trim(word, " ,:(")))
				return nil
			}
		}
		return nil
	})
	return found, err //nolint:wrapcheck // it names the file
}
