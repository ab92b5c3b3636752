// Package prompts holds every text that the coach sends or instructs a model
// with, as files: embedded, parsed and tried out when they are loaded, and
// replaceable one by one from an operator's folder.
package prompts

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os" //nolint:depguard // Load reads the operator's folder, once, at start-up
	"regexp"
	"slices"
	"strings"
	"text/template"

	words "coachline/internal/text"
)

//go:embed texts playbooks focuses
var embedded embed.FS

// versionDigits is the length of Version: 12 hex digits tell apart any number
// of versions that one programme will ever have.
const versionDigits = 12

// Library is a loaded set of texts. It does not change and is safe for use by
// several goroutines.
type Library struct {
	entries   map[Name]entry
	templates map[Name]*template.Template
	sources   map[Name]string
	folders   pageFolders
	spoken    map[Name]translatedText
	// overridden are the texts that the operator's folder holds outside a
	// locale's folder.
	overridden map[Name]bool
	workspace  []Workspace
	version    string
	facts      Facts
}

// Facts are what texts say of an installation or a study.
type Facts struct {
	// MaxPerDay is the most texts that the programme starts on a day; 0: no limit.
	MaxPerDay int
	// Support is where a person is to be reached: a number, an address or an e-mail;
	// empty: with the team.
	Support string
	// Terms is the address of terms and privacy policy; empty: texts name none.
	Terms string
	// Safety is the address of the page about safety, which the first text names; empty: it
	// names none.
	Safety string
	// Formal: people are addressed formally in languages that have it.
	Formal bool
}

// With returns the library whose texts say the facts.
func (l *Library) With(facts Facts) *Library {
	own := *l
	own.facts = facts
	return &own
}

// Facts returns what the texts say.
func (l *Library) Facts() Facts { return l.facts }

// WithMaxPerDay returns the library whose texts say that the programme starts a number
// of texts a day at most; 0 is without a limit.
func (l *Library) WithMaxPerDay(most int) *Library {
	facts := l.facts
	facts.MaxPerDay = most
	return l.With(facts)
}

// Load reads the embedded texts and lets the files of dir replace those of
// equal name and place; "" means embedded only. A folder such as "es" or "pt-BR"
// holds fixed texts in that language. Hidden files of dir are skipped, since
// mounted folders hold some. A file that is not a text of the library, an
// empty one, a syntax error and a field that the text's data lacks are errors
// that name the file; so nothing that Load accepts fails later for its data.
// Its folders playbooks and focuses hold pages (see package pages).
func Load(dir string) (*Library, error) { return LoadWith(dir, false) }

// LoadWith does what Load does, with the focuses that are shipped where an installation
// wants them; dir may replace each of them, and an empty file leaves it out.
func LoadWith(dir string, focuses bool) (*Library, error) {
	sub, err := fs.Sub(embedded, "texts")
	if err != nil {
		return nil, fmt.Errorf("opening embedded prompts: %w", err)
	}
	sources, own := map[Name]string{}, map[Name]string{}
	if err := readInto(sources, sub, true); err != nil {
		return nil, fmt.Errorf("reading embedded prompts: %w", err)
	}
	var operators fs.FS
	if dir != "" {
		operators = os.DirFS(dir)
		if err := readInto(own, operators, true); err != nil {
			return nil, fmt.Errorf("reading prompts of %s: %w", dir, err)
		}
		maps.Copy(sources, own)
	}
	var workspace []Workspace
	if operators != nil {
		if workspace, err = ReadWorkspace(operators); err != nil {
			return nil, fmt.Errorf("reading prompts of %s: %w", dir, err)
		}
	}
	lib := &Library{workspace: workspace, entries: catalogue(), templates: map[Name]*template.Template{}, sources: sources, overridden: map[Name]bool{}}
	for name := range own {
		lib.overridden[name] = true
	}
	for _, name := range Names() {
		if err := lib.parse(name); err != nil {
			return nil, fmt.Errorf("prompt %s: %w", name.file(), err)
		}
	}
	if lib.folders, err = loadPageFolders(dir, focuses); err != nil {
		return nil, err
	}
	if err := lib.translate(sub, operators, own); err != nil {
		return nil, err
	}
	lib.version = lib.hash()
	return lib, nil
}

// readInto reads the texts of a folder; a root's folders of locales are not
// among them.
func readInto(sources map[Name]string, folder fs.FS, root bool) error {
	files, err := fs.ReadDir(folder, ".")
	if err != nil {
		return err
	}
	if root {
		files = slices.DeleteFunc(files, func(file fs.DirEntry) bool { return isLocale(folder, file) })
	}
	known := catalogue()
	for _, file := range files {
		if strings.HasPrefix(file.Name(), ".") || isPageFolder(file) || root && isWorkspace(file) {
			continue
		}
		base, isText := strings.CutSuffix(file.Name(), ".md")
		if _, ok := known[Name(base)]; !ok || !isText || file.IsDir() {
			return fmt.Errorf("%s is not a prompt file; known are %s", file.Name(), knownFiles())
		}
		text, err := fs.ReadFile(folder, file.Name())
		if err != nil {
			return err
		}
		sources[Name(base)] = string(text)
	}
	return nil
}

func knownFiles() string {
	var files []string
	for _, name := range Names() {
		files = append(files, name.file())
	}
	return strings.Join(files, ", ")
}

// topHeading matches what would look like a section of the system message.
var topHeading = regexp.MustCompile(`(?m)^#[ \t]`)

func (l *Library) parse(name Name) (err error) {
	source, ok := l.sources[name]
	if !ok {
		return errors.New("file is missing")
	}
	l.templates[name], err = l.tryOut(name, source)
	return err
}

// tryOut parses a text and renders it with each sample of its data.
func (l *Library) tryOut(name Name, source string) (*template.Template, error) {
	// Sections of the system message begin with "# "; headings of a text are
	// one level lower, so that no text can open a section.
	source = topHeading.ReplaceAllString(strings.ReplaceAll(source, "\r\n", "\n"), "## ")
	parsed, err := template.New(name.file()).Option("missingkey=error").Parse(source)
	if err != nil {
		return nil, err
	}
	for _, sample := range l.entries[name].samples {
		text, err := l.execute(name, parsed, sample)
		if err != nil {
			return nil, err
		}
		if text == "" {
			return nil, errors.New("text is empty")
		}
		if name == NoticeAgain && words.FindDisclosure(text) == "" {
			return nil, errors.New("text does not say that an AI writes, such as \"AI coach\"")
		}
	}
	return parsed, nil
}

// hash covers names and contents in a fixed order, with lengths between them
// so that no two different sets read alike.
func (l *Library) hash() string {
	sum := sha256.New()
	for _, name := range Names() {
		sum.Write(fmt.Appendf(nil, "%s %d\n%s\n", name.file(), len(l.sources[name]), l.sources[name]))
		for _, text := range l.spoken[name].texts {
			sum.Write(fmt.Appendf(nil, "%s %d\n%s\n", text.file(name), len(text.source), text.source))
		}
	}
	for _, w := range l.workspace {
		sum.Write(fmt.Appendf(nil, "%s %d\n%s\n", w.Name, len(w.Text), w.Text))
	}
	for _, page := range l.folders.all() {
		sum.Write(fmt.Appendf(nil, "%s %d\n%s\n", page.File, len(page.Source), page.Source))
	}
	return hex.EncodeToString(sum.Sum(nil))[:versionDigits]
}

// Version is a short hash of all texts; it changes when any of them does.
func (l *Library) Version() string { return l.version }

// Render executes a text with its data and trims the result. It fails for an
// unknown name and for data of another type than the text is written for.
func (l *Library) Render(name Name, data any) (string, error) {
	parsed, ok := l.templates[name]
	if !ok {
		return "", fmt.Errorf("no prompt is called %s", name)
	}
	return l.execute(name, parsed, data)
}
