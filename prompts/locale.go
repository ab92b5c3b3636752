package prompts

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"coachline/internal/helplines"
)

// ownLanguage is the language of the texts that stand outside a locale's
// folder, which everybody gets who has no text in a language of their own.
var ownLanguage = language.English

// origin is what the texts outside a locale's folder are called.
const origin = "en"

// translation is a fixed text in the language of one folder, such as "pt-BR".
type translation struct {
	folder string
	source string
	parsed *template.Template
	// formal is parsed for people who are addressed formally; nil: it is the same.
	formal *template.Template
}

func (t translation) file(name Name) string { return t.folder + "/" + name.file() }

// translatedText is a fixed text in every language that it was translated to. The
// matcher's first language is ownLanguage, so it counts one more than texts.
type translatedText struct {
	matcher language.Matcher
	texts   []translation
}

// Fixed renders a text that reaches a person without a model, in the language
// of the person's locale, such as "pt-BR": the text of that locale, else of its
// language or of one that its readers understand (Unicode CLDR), else the
// English one, which an empty or unknown locale gets too. It fails for
// names of other texts.
func (l *Library) Fixed(name Name, locale string, data FixedData) (string, error) {
	if !l.entries[name].fixed {
		return "", fmt.Errorf("prompt %s is not a fixed text", name)
	}
	data.MaxPerDay, data.Support, data.Terms, data.Safety, data.Talk = l.facts.MaxPerDay, l.facts.Support, l.facts.Terms, l.facts.Safety, ""
	if name != Helpline && data.Lines.Call != "" {
		var err error
		if data.Talk, err = l.Fixed(Helpline, locale, data); err != nil {
			return "", err
		}
	}
	if text, ok := l.translationOf(name, locale); ok {
		if l.facts.Formal && text.formal != nil {
			return l.execute(name, text.formal, data)
		}
		return l.execute(name, text.parsed, data)
	}
	return l.Render(name, data)
}

// Translated reports whether a locale has a fixed text in another language than
// English.
func (l *Library) Translated(name Name, locale string) bool {
	_, ok := l.translationOf(name, locale)
	return ok
}

func (l *Library) translationOf(name Name, locale string) (translation, bool) {
	words := l.spoken[name]
	if locale == "" || len(words.texts) == 0 {
		return translation{}, false
	}
	// What of a locale cannot be read is left out; a malformed one is English.
	_, at, confidence := words.matcher.Match(language.Make(locale))
	if at == 0 || confidence == language.No {
		return translation{}, false
	}
	return words.texts[at-1], true
}

// LanguageName names the language that a fixed text has in a locale, in
// English, such as "German". A text that the operator wrote without
// translations is taken to be in the language of the locale, because its own
// is not known; English where the locale says nothing either.
func (l *Library) LanguageName(name Name, locale string) string {
	tag := ownLanguage
	text, ok := l.translationOf(name, locale)
	switch {
	case ok:
		tag = language.Make(text.folder)
	case l.overridden[name] && locale != "":
		if own := language.Make(locale); !own.IsRoot() {
			tag = own
		}
	}
	base, _ := tag.Base()
	if title := display.English.Languages().Name(base); title != "" {
		return title
	}
	return display.English.Languages().Name(ownLanguage)
}

// Locales lists the folders of translations, embedded and the operator's, sorted.
func (l *Library) Locales() []string {
	var folders []string
	for _, words := range l.spoken {
		for _, text := range words.texts {
			folders = append(folders, text.folder)
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// translate reads the folders of locales: the embedded ones, and the
// operator's above them; overridden are the operator's texts outside them. A
// text that the operator wrote anew without its translations goes out as it is
// to everybody, because ours may say something else, such as whom to ask for
// help.
func (l *Library) translate(own, operators fs.FS, overridden map[Name]string) error {
	folders, err := readFolders(own)
	if err != nil {
		return fmt.Errorf("reading embedded prompts: %w", err)
	}
	ours := map[string]map[Name]string{}
	for folder, texts := range folders {
		ours[folder] = maps.Clone(texts)
	}
	if operators != nil {
		theirs, err := readFolders(operators)
		if err != nil {
			return fmt.Errorf("reading translated prompts: %w", err)
		}
		for _, texts := range folders {
			maps.DeleteFunc(texts, func(name Name, _ string) bool { _, theirs := overridden[name]; return theirs })
		}
		for folder, texts := range theirs {
			if folders[folder] == nil {
				folders[folder] = map[Name]string{}
			}
			maps.Copy(folders[folder], texts)
		}
	}
	if err := l.parseFolders(folders); err != nil {
		return err
	}
	return l.addFormal(ours)
}

// addFormal parses what is said formally of the texts that are ours.
func (l *Library) addFormal(ours map[string]map[Name]string) error {
	formal := map[string]*strings.Replacer{}
	for folder := range ours {
		var err error
		if formal[folder], err = toFormal(folder); err != nil {
			return err
		}
	}
	for name, words := range l.spoken {
		for i := range words.texts {
			text := &words.texts[i]
			words := formal[text.folder]
			if words == nil || ours[text.folder][name] != text.source {
				continue
			}
			source := words.Replace(text.source)
			if source == text.source {
				continue
			}
			var err error
			if text.formal, err = l.tryOut(name, source); err != nil {
				return fmt.Errorf("prompt %s, formal: %w", text.file(name), err)
			}
		}
	}
	return nil
}

func readFolders(root fs.FS) (map[string]map[Name]string, error) {
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		return nil, err
	}
	out := map[string]map[Name]string{}
	for _, entry := range entries {
		if !isLocale(root, entry) {
			continue
		}
		sub, err := fs.Sub(root, entry.Name())
		if err != nil {
			return nil, err
		}
		out[entry.Name()] = map[Name]string{}
		if err := readInto(out[entry.Name()], sub, false); err != nil {
			return nil, fmt.Errorf("folder %s: %w", entry.Name(), err)
		}
	}
	return out, nil
}

// isLocale recognises a locale's folder, of mounted volumes too, where folders
// are links.
func isLocale(root fs.FS, entry fs.DirEntry) bool {
	tag, err := language.Parse(entry.Name())
	if err != nil || tag.IsRoot() || strings.HasPrefix(entry.Name(), ".") || entry.Name() == origin {
		return false
	}
	info, err := fs.Stat(root, entry.Name())
	return err == nil && info.IsDir()
}

func (l *Library) parseFolders(folders map[string]map[Name]string) error {
	l.spoken = map[Name]translatedText{}
	tags := map[Name][]language.Tag{}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		for _, name := range slices.Sorted(maps.Keys(folders[folder])) {
			text := translation{folder: folder, source: folders[folder][name]}
			if err := l.parseTranslation(name, &text); err != nil {
				return fmt.Errorf("prompt %s: %w", text.file(name), err)
			}
			tags[name] = append(tags[name], language.Make(folder))
			l.spoken[name] = translatedText{texts: append(l.spoken[name].texts, text)}
		}
	}
	for name, words := range l.spoken {
		words.matcher = language.NewMatcher(append([]language.Tag{ownLanguage}, tags[name]...))
		l.spoken[name] = words
	}
	return nil
}

func (l *Library) parseTranslation(name Name, text *translation) error {
	if !l.entries[name].fixed {
		return errors.New("only texts that reach people without a model are translated")
	}
	if got, want := fieldsOf(text.source), fieldsOf(l.sources[name]); !slices.Equal(got, want) {
		return fmt.Errorf("it uses the fields %v and %s uses %v", got, name.file(), want)
	}
	var err error
	text.parsed, err = l.tryOut(name, text.source)
	return err
}

var (
	action      = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	statesAlert = regexp.MustCompile(`^\{\{-? *if (?:not )?\.TeamAlerted *-?\}\}$`)
	usedField   = regexp.MustCompile(`\.[A-Z][A-Za-z0-9]*`)
)

// optionalFields are those that a text need not use because its translation does.
var optionalFields = func() []string {
	fields := []string{".MaxPerDay", ".Support", ".Place", ".Weak", ".Talk", ".Lines", ".Changed", ".Terms", ".IsBody", ".Safety"}
	for field := range reflect.TypeFor[helplines.Lines]().Fields() {
		fields = append(fields, "."+field.Name)
	}
	return fields
}()

// fieldsOf lists the fields of its data that a text uses, sorted, each once. The
// condition on TeamAlerted is left out: a translation need not say whether the
// team is alerted. So are MaxPerDay and what a text may say in its own words: how often
// the programme writes, numbers to call, what it asks after a weak sign.
func fieldsOf(source string) []string {
	var fields []string
	for _, one := range action.FindAllString(source, -1) {
		if !statesAlert.MatchString(one) {
			fields = append(fields, usedField.FindAllString(one, -1)...)
		}
	}
	fields = slices.DeleteFunc(fields, func(field string) bool { return slices.Contains(optionalFields, field) })
	slices.Sort(fields)
	return slices.Compact(fields)
}

// execute renders what was parsed for a text with its data, and trims it.
func (l *Library) execute(name Name, parsed *template.Template, data any) (string, error) {
	filled, ok := l.entries[name].withDefaults(data)
	if !ok {
		return "", fmt.Errorf("prompt %s takes %T, not %T", name, l.entries[name].samples[0], data)
	}
	var out strings.Builder
	out.Grow(len(l.sources[name]))
	if err := parsed.Execute(&out, filled); err != nil {
		return "", fmt.Errorf("rendering prompt: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}
