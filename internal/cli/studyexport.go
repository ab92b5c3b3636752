package cli

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coachline/internal/export"
)

// maxManifest bounds the manifest of an export, in bytes.
const maxManifest = 1 << 20

// StudyExport is what is exported, and into which folder.
type StudyExport struct {
	Study, Folder string
	Format        export.Format
	// Texts: messages with their words, masked.
	Texts bool
}

func (e StudyExport) toRequest() request {
	query := url.Values{"format": {string(e.Format)}}
	if e.Texts {
		query.Set("texts", "true")
	}
	return request{method: http.MethodGet, path: studyPath(e.Study) + "/export", query: query}
}

// ExportStudy writes the tables of a study into a new folder, whole or not at all:
// each file is compared with the manifest before the folder gets its name.
func (c *Commands) ExportStudy(ctx context.Context, e StudyExport, progress Progress) error {
	manifest, err := exportInto(e.Folder, func(archive string) error {
		return c.client.saveFile(ctx, e.toRequest(), archive, progress)
	})
	if err != nil {
		return err
	}
	return c.showExport(manifest)
}

// WriteExport writes an export of rows that are at hand into a new folder, as
// ExportStudy does, and returns its manifest. An error leaves no folder.
func WriteExport(folder string, in export.Input) (export.Manifest, error) {
	return exportInto(folder, func(archive string) error {
		read, write := io.Pipe()
		go func() { write.CloseWithError(export.Write(write, in)) }()
		return errors.Join(writeFrom(read, archive), read.Close())
	})
}

// CheckNewFolder refuses a folder that exists.
func CheckNewFolder(folder string) error {
	if _, err := os.Lstat(folder); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: file exists; name a folder that does not", folder)
	}
	return nil
}

// exportInto unpacks an archive that save writes into a new folder.
func exportInto(folder string, save func(archive string) error) (manifest export.Manifest, err error) {
	folder = filepath.Clean(folder)
	if err := CheckNewFolder(folder); err != nil {
		return manifest, err
	}
	work, err := os.MkdirTemp(filepath.Dir(folder), ".export-*")
	if err != nil {
		return manifest, fmt.Errorf("making a folder for the export: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(work))
		}
	}()
	archive := filepath.Join(work, "export.zip")
	if err := save(archive); err != nil {
		return manifest, err
	}
	if manifest, err = unpackExport(archive, work); err != nil {
		return manifest, err
	}
	if err := errors.Join(os.Remove(archive), os.Rename(work, folder)); err != nil {
		return manifest, fmt.Errorf("finishing the export: %w", err)
	}
	return manifest, nil
}

func (c *Commands) showExport(manifest export.Manifest) error {
	raw, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	return showResult(c, result{raw: raw}, func(w io.Writer, m export.Manifest) error {
		rows := [][]string{{"TABLE", "ROWS"}}
		for _, f := range m.Files {
			// A table of two files follows itself.
			if table := strings.TrimSuffix(f.Name, filepath.Ext(f.Name)); f.Rows != nil && rows[len(rows)-1][0] != table {
				rows = append(rows, []string{table, strconv.FormatInt(*f.Rows, 10)})
			}
		}
		if err := writeTable(w, rows); err != nil {
			return err
		}
		_, err := io.WriteString(w, describeOmissions(m))
		return err
	})
}

// describeOmissions says what the reader may not see.
func describeOmissions(m export.Manifest) string {
	var out string
	if !m.Arms {
		out += "\nThe arms are left out; they need allocation:read.\n"
	}
	if !m.Audit {
		out += "\nThe audit is left out; it needs audit:read.\n"
	}
	return out
}

// saveFile writes a file of any length as it comes in. A refusal is an *APIError.
func (c *Client) saveFile(ctx context.Context, what request, to string, progress Progress) error {
	req, err := c.newRequest(ctx, what)
	if err != nil {
		return err
	}
	patient := *c.http
	patient.Timeout = 0 // the length decides; ctx ends it
	res, err := patient.Do(req)
	if err != nil {
		return fmt.Errorf("calling the API at %s: %w", c.base, unwrapURL(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return fmt.Errorf("reading the API's answer: %w", err)
		}
		_, err = parseAnswer(res.StatusCode, raw)
		return err
	}
	return writeFrom(&progressReader{Reader: res.Body, of: res.ContentLength, progress: progress}, to)
}

// writeFrom writes a new file that only its owner reads.
func writeFrom(in io.Reader, path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("creating a file: %w", err)
	}
	_, err = io.Copy(file, in)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return nil
}

// unpackExport writes the files of an archive into a folder and returns the manifest,
// which they must agree with.
func unpackExport(archive, folder string) (manifest export.Manifest, err error) {
	files, err := zip.OpenReader(archive)
	if err != nil {
		return manifest, fmt.Errorf("opening the archive: %w", err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	if manifest, err = readManifest(&files.Reader); err != nil {
		return manifest, err
	}
	if len(files.File) != len(manifest.Files)+1 {
		return manifest, fmt.Errorf("the archive has %d files and its manifest names %d", len(files.File), len(manifest.Files)+1)
	}
	for _, f := range files.File {
		if err := unpackFile(f, manifest, folder); err != nil {
			return manifest, err
		}
	}
	return manifest, nil
}

func readManifest(files *zip.Reader) (manifest export.Manifest, err error) {
	in, err := files.Open(export.ManifestName)
	if err != nil {
		return manifest, fmt.Errorf("the archive has no manifest: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxManifest))
	if err := errors.Join(err, in.Close()); err != nil {
		return manifest, fmt.Errorf("reading the manifest: %w", err)
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return manifest, fmt.Errorf("reading the manifest: %w", err)
	}
	return manifest, nil
}

// unpackFile writes one file, whose name must be one of the manifest and no path.
func unpackFile(f *zip.File, manifest export.Manifest, folder string) error {
	i := slices.IndexFunc(manifest.Files, func(m export.ManifestFile) bool { return m.Name == f.Name })
	name := export.ManifestName
	if i >= 0 {
		name = manifest.Files[i].Name
	}
	if name != f.Name || filepath.Base(name) != name || !filepath.IsLocal(name) {
		return fmt.Errorf("the archive has a file %q that is not in its manifest", f.Name)
	}
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	sum := sha256.New()
	err = errors.Join(writeFrom(io.TeeReader(in, sum), filepath.Join(folder, name)), in.Close())
	if err != nil {
		return err
	}
	if i >= 0 && hex.EncodeToString(sum.Sum(nil)) != manifest.Files[i].SHA256 {
		return fmt.Errorf("%s is not as its manifest says; export again", name)
	}
	return nil
}
