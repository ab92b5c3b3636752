package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Superuser owns the cluster; it is also the operating system's user when the
// driver runs as root, because postgres refuses to.
const Superuser = "postgres"

// Postgres makes a cluster in a folder of its own and returns the program that
// serves it. What was committed survives a kill of the server: only the
// flushes that guard against a power cut are left out.
func Postgres(ctx context.Context, folder string, port int) (Program, error) {
	bin, err := serverPrograms(ctx)
	if err != nil {
		return Program{}, err
	}
	as, err := credential()
	if err != nil {
		return Program{}, err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return Program{}, fmt.Errorf("making the cluster's folder: %w", err)
	}
	if as != nil {
		if err := os.Chown(folder, int(as.Uid), int(as.Gid)); err != nil {
			return Program{}, fmt.Errorf("giving the cluster's folder away: %w", err)
		}
	}
	data := filepath.Join(folder, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", Superuser,
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = folder, attributes(as)
	runtime.LockOSThread()
	out, err := initdb.CombinedOutput()
	runtime.UnlockOSThread()
	if err != nil {
		return Program{}, fmt.Errorf("running initdb: %w: %s", err, out)
	}
	return Program{
		Name: "postgres", Path: filepath.Join(bin, "postgres"), As: as,
		Args: []string{
			"-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-k", folder,
			"-c", "fsync=off", "-c", "synchronous_commit=on", "-c", "max_connections=200",
		},
		Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
	}, nil
}

// serverPrograms finds the folder of initdb and postgres: what pg_config says,
// or the newest version in Debian's place.
func serverPrograms(ctx context.Context) (string, error) {
	folders, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", fmt.Errorf("looking for PostgreSQL: %w", err)
	}
	version := func(folder string) int {
		n, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
		if err != nil {
			return 0
		}
		return n
	}
	slices.SortFunc(folders, func(a, b string) int { return version(b) - version(a) })
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		folders = append([]string{strings.TrimSpace(string(out))}, folders...)
	}
	for _, folder := range folders {
		if executable(folder, "initdb") && executable(folder, "postgres") {
			return folder, nil
		}
	}
	return "", errors.New("no PostgreSQL server programs (initdb, postgres) found: apt-get install postgresql")
}

func executable(folder, name string) bool {
	info, err := os.Stat(filepath.Join(folder, name))
	return err == nil && info.Mode()&0o111 != 0
}

// credential is who runs the server: nil for our own user, the user postgres
// when that is root.
func credential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(Superuser)
	if err != nil {
		return nil, fmt.Errorf("root may not run PostgreSQL, and there is no user to run it as: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading user id: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading group id: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
