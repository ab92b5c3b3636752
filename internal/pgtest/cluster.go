package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Superuser owns the cluster; it is also the operating system's user when the
// caller runs as root, because postgres refuses to.
const Superuser = "postgres"

const startTimeout = 60 * time.Second

// cluster is a running server and its folder.
type cluster struct {
	folder string
	port   int
	// end asks the process to end; ended is closed when it is gone.
	end   context.CancelFunc
	ended <-chan struct{}
	// filling makes the database that StartCopy copies; kept are copies.
	filling sync.Once
	kept    keptDatabases
}

func (c *cluster) databaseURL(database string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", Superuser, c.port, database)
}

// serverPrograms finds the folder of initdb and postgres: what pg_config says,
// or the newest version in Debian's place.
func serverPrograms(ctx context.Context) (string, error) {
	folders, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", fmt.Errorf("looking for PostgreSQL: %w", err)
	}
	version := func(i int) int {
		n, err := strconv.Atoi(filepath.Base(filepath.Dir(folders[i])))
		if err != nil {
			return 0
		}
		return n
	}
	sort.Slice(folders, func(i, j int) bool { return version(i) > version(j) })
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		folders = append([]string{strings.TrimSpace(string(out))}, folders...)
	}
	for _, folder := range folders {
		if isExecutable(folder, "initdb") && isExecutable(folder, "postgres") {
			return folder, nil
		}
	}
	return "", errors.New("no PostgreSQL server programs (initdb, postgres) found: apt-get install postgresql")
}

func isExecutable(folder, name string) bool {
	info, err := os.Stat(filepath.Join(folder, name))
	return err == nil && info.Mode()&0o111 != 0
}

// Program is the server of a prepared cluster.
type Program struct {
	Path string
	Args []string
	// As is who runs it; nil means the current user.
	As *syscall.Credential
}

// Prepare makes a cluster in a folder of its own, which must not exist yet, and
// returns the program that serves it on a port. What was committed survives a
// kill of the server: only the flushes that guard against a power cut are left
// out.
func Prepare(ctx context.Context, folder string, port int) (Program, error) {
	bin, err := serverPrograms(ctx)
	if err != nil {
		return Program{}, err
	}
	as, err := serverCredential()
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
	initdb.Dir, initdb.SysProcAttr = folder, processAttributes(as)
	// The thread that starts a process must live as long as it, see runProcess.
	runtime.LockOSThread()
	out, err := initdb.CombinedOutput()
	runtime.UnlockOSThread()
	if err != nil {
		return Program{}, fmt.Errorf("running initdb: %w: %s", err, out)
	}
	return Program{Path: filepath.Join(bin, "postgres"), As: as, Args: []string{
		"-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-k", folder,
		"-c", "fsync=off", "-c", "synchronous_commit=on", "-c", "max_connections=200",
	}}, nil
}

// MemoryFolder is a folder in memory with room for a cluster, empty where there is none:
// a database is some hundred files, and making them takes half of the time on a disk.
func MemoryFolder() string {
	const folder, room = "/dev/shm", 2 << 30
	var at syscall.Statfs_t
	if err := syscall.Statfs(folder, &at); err != nil || at.Bavail*uint64(at.Bsize) < room {
		return ""
	}
	return folder
}

func startCluster() (*cluster, error) {
	parent, err := os.MkdirTemp(MemoryFolder(), "coachline-pg-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	// The cluster's own user has to get through to its folder.
	if err := os.Chmod(parent, 0o711); err != nil { //nolint:gosec // search permission is all that others get
		return nil, errors.Join(fmt.Errorf("opening the folder: %w", err), os.RemoveAll(parent))
	}
	c, err := launchCluster(parent)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(parent))
	}
	return c, nil
}

// serverCredential returns who runs the server: nil for the current user, the
// user postgres when that is root.
func serverCredential() (*syscall.Credential, error) {
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

func launchCluster(parent string) (*cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for try := 1; ; try++ {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		program, err := Prepare(ctx, filepath.Join(parent, strconv.Itoa(try)), port)
		if err != nil {
			return nil, err
		}
		c, err := startServer(program, parent, port)
		// Another process may take the free port first.
		if err == nil || try == 3 {
			return c, err
		}
	}
}

// startServer starts the server and waits until it answers.
func startServer(program Program, parent string, port int) (*cluster, error) {
	log, err := os.Create(filepath.Join(parent, "log"))
	if err != nil {
		return nil, fmt.Errorf("making the log: %w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	// Nothing in the cluster is kept.
	cmd := exec.CommandContext(ctx, program.Path, append(program.Args, "-c", "synchronous_commit=off", "-c", "full_page_writes=off")...)
	cmd.Dir = "/"
	// An immediate shutdown.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	c := &cluster{folder: parent, port: port, end: end}
	if c.ended, err = Run(cmd, program.As, log); err != nil {
		end()
		return nil, fmt.Errorf("running postgres: %w", err)
	}
	if err := c.waitReady(); err != nil {
		end()
		<-c.ended
		text, readErr := os.ReadFile(log.Name())
		return nil, errors.Join(fmt.Errorf("waiting for postgres: %w: %s", err, text), readErr)
	}
	return c, nil
}

// Run starts a program as a user, nil being the current one, writes what it says to log
// and closes ended when it is gone. It ends with this process, however that ends. A
// thread is kept for all that time: the kernel ties the signal that a parent's death sends
// to the thread that made the child.
func Run(cmd *exec.Cmd, as *syscall.Credential, log *os.File) (ended <-chan struct{}, err error) {
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, processAttributes(as)
	gone, started := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(gone)
		defer log.Close()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // The exit code says nothing that the log does not.
		}
	}()
	return gone, <-started
}

// waitReady returns when the server answers.
func (c *cluster) waitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	db, err := sql.Open("pgx", c.databaseURL("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.ended:
			return errors.New("the server ended")
		case <-ctx.Done():
			return err
		}
	}
}

func (c *cluster) stopServer() {
	c.end()
	<-c.ended
	if err := os.RemoveAll(c.folder); err != nil {
		fmt.Fprintln(os.Stderr, "removing PostgreSQL's folder:", err)
	}
}

func freePort() (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
