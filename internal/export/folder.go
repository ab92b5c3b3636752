package export

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"coachline/internal/wrap"
)

// maxManifest bounds the manifest of an export, in bytes.
const maxManifest = 1 << 20

// WriteFolder writes an export into a new folder and returns its manifest. An error
// leaves no folder.
func WriteFolder(folder string, in Input) (Manifest, error) {
	return UnpackFolder(folder, func(archive string) error {
		read, write := io.Pipe()
		go func() { write.CloseWithError(Write(write, in)) }()
		return errors.Join(SaveFile(read, archive), read.Close())
	})
}

// CheckNewFolder refuses a folder that exists.
func CheckNewFolder(folder string) error {
	if _, err := os.Lstat(folder); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: file exists; name a folder that does not", folder)
	}
	return nil
}

// UnpackFolder unpacks an archive that save writes into a new folder, whole or not
// at all: each file is compared with the manifest before the folder gets its name.
func UnpackFolder(folder string, save func(archive string) error) (manifest Manifest, err error) {
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
	archive := filepath.Join(work, "zip")
	if err := save(archive); err != nil {
		return manifest, err
	}
	if manifest, err = unpackExport(archive, work); err != nil {
		return manifest, err
	}
	err = errors.Join(os.Remove(archive), os.Rename(work, folder))
	return manifest, wrap.Error(err, "finishing the export")
}

// SaveFile writes a new file that only its owner reads.
func SaveFile(in io.Reader, path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("creating a file: %w", err)
	}
	_, err = io.Copy(file, in)
	return wrap.Errorf(errors.Join(err, file.Close()), "writing %s", filepath.Base(path))
}

// unpackExport writes the files of an archive into a folder and returns the manifest,
// which they must agree with.
func unpackExport(archive, folder string) (manifest Manifest, err error) {
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

func readManifest(files *zip.Reader) (manifest Manifest, err error) {
	in, err := files.Open(ManifestName)
	if err != nil {
		return manifest, fmt.Errorf("the archive has no manifest: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxManifest))
	if err := errors.Join(err, in.Close()); err != nil {
		return manifest, fmt.Errorf("reading the manifest: %w", err)
	}
	err = json.Unmarshal(raw, &manifest)
	return manifest, wrap.Error(err, "reading the manifest")
}

// unpackFile writes one file, whose name must be one of the manifest and no path.
func unpackFile(f *zip.File, manifest Manifest, folder string) error {
	i := slices.IndexFunc(manifest.Files, func(m ManifestFile) bool { return m.Name == f.Name })
	name := ManifestName
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
	err = errors.Join(SaveFile(io.TeeReader(in, sum), filepath.Join(folder, name)), in.Close())
	if err != nil {
		return err
	}
	if i >= 0 && hex.EncodeToString(sum.Sum(nil)) != manifest.Files[i].SHA256 {
		return fmt.Errorf("%s is not as its manifest says; export again", name)
	}
	return nil
}
