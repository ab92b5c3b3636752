package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence"
	persistencesql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/schema"
	v12 "go.temporal.io/server/schema/postgresql/v12"
	srv "go.temporal.io/server/temporal"
	"google.golang.org/protobuf/types/known/durationpb"

	"coachline/dev/temporal"
	"coachline/internal/pgtest"
)

const (
	shards      = 4
	connections = 20
	retention   = 7 * 24 * time.Hour
	loopback    = "127.0.0.1"
)

// startServer runs a Temporal server on PostgreSQL in this process, tuned as
// the embedded one of dev is, with four shards and the visibility indexes that
// docs/operations.md recommends.
func startServer(ctx context.Context, port int) (address string, stop func() error, err error) {
	state, visible := sqlConfig(port, databaseTemporal), sqlConfig(port, databaseVisibility)
	if err := errors.Join(makeSchema(state, "temporal", v12.Version), makeSchema(visible, "visibility", v12.VisibilityVersion)); err != nil {
		return "", nil, err
	}
	if err := narrowVisibility(ctx, port); err != nil {
		return "", nil, err
	}
	services := map[primitives.ServiceName]int{}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for _, name := range []primitives.ServiceName{primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService} {
		if services[name], err = temporal.FreePort(); err != nil {
			return "", nil, fmt.Errorf("looking for the server's ports: %w", err)
		}
		hosts[name] = static.SingleLocalHost(loopbackAddress(services[name]))
	}
	server, err := srv.NewServer(
		srv.WithConfig(temporal.ServerConfig(config.Persistence{
			DefaultStore: databaseTemporal, VisibilityStore: databaseVisibility, NumHistoryShards: shards,
			DataStores: map[string]config.DataStore{databaseTemporal: {SQL: state}, databaseVisibility: {SQL: visible}},
		}, services)), srv.ForServices(srv.DefaultServices),
		srv.WithStaticHosts(hosts), srv.WithLogger(log.NewNoopLogger()),
		srv.WithAuthorizer(authorization.NewNoopAuthorizer()),
		srv.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		// That of dev, so that the backends differ in nothing else.
		srv.WithDynamicConfigClient(temporal.Tuning()),
	)
	if err != nil {
		return "", nil, fmt.Errorf("building the Temporal server: %w", err)
	}
	address = loopbackAddress(services[primitives.FrontendService])
	err = server.Start()
	if err == nil {
		err = makeNamespace(ctx, address)
	}
	if err != nil {
		return "", nil, fmt.Errorf("starting the Temporal server: %w", errors.Join(err, server.Stop()))
	}
	return address, server.Stop, nil
}

func loopbackAddress(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

func sqlConfig(port int, database string) *config.SQL {
	return &config.SQL{
		PluginName: postgresql.PluginNamePGX, ConnectProtocol: "tcp", ConnectAddr: loopbackAddress(port),
		User: pgtest.Superuser, DatabaseName: database, MaxConns: connections, MaxIdleConns: connections,
	}
}

func makeSchema(cfg *config.SQL, name, version string) error {
	db, err := persistencesql.NewSQLAdminDB(sqlplugin.DbKindUnknown, cfg, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("opening the server's database %s: %w", name, err)
	}
	text, err := schema.Assets().Open("postgresql/v12/" + name + "/schema.sql")
	if err != nil {
		return errors.Join(fmt.Errorf("finding the schema %s: %w", name, err), db.Close())
	}
	defer text.Close()
	whole, err := io.ReadAll(text)
	if err != nil {
		return errors.Join(fmt.Errorf("reading the schema %s: %w", name, err), db.Close())
	}
	statements, err := persistence.LoadAndSplitQueryFromReaders([]io.Reader{bytes.NewReader(whole)})
	if err == nil {
		err = db.CreateSchemaVersionTables()
	}
	for _, statement := range statements {
		if err != nil {
			break
		}
		err = db.Exec(statement)
	}
	if err == nil {
		err = db.UpdateSchemaVersion(cfg.DatabaseName, version, version)
	}
	if err != nil {
		err = fmt.Errorf("making the schema %s: %w", name, err)
	}
	return errors.Join(err, db.Close())
}

// makeNamespace registers the namespace and waits until it is known.
func makeNamespace(ctx context.Context, address string) error {
	c, err := client.NewNamespaceClient(client.Options{HostPort: address})
	if err != nil {
		return fmt.Errorf("preparing a namespace client: %w", err)
	}
	defer c.Close()
	var exists *serviceerror.NamespaceAlreadyExists
	err = pollUntil(ctx, func(ctx context.Context) bool {
		err := c.Register(ctx, &workflowservice.RegisterNamespaceRequest{
			Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
		})
		return err == nil || errors.As(err, &exists)
	})
	if err != nil {
		return fmt.Errorf("making the namespace: %w", err)
	}
	return nil
}
