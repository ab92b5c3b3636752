package temporal

import (
	"fmt"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// newServer builds a server of all four services in this process.
func newServer(cfg Config, store *config.SQL, ports portSet, settings *dynamicconfig.MemoryClient) (temporal.Server, error) {
	services := map[primitives.ServiceName]int{
		primitives.FrontendService: ports.frontend,
		primitives.HistoryService:  ports.history,
		primitives.MatchingService: ports.matching,
		primitives.WorkerService:   ports.worker,
	}
	conf := ServerConfig(config.Persistence{
		DefaultStore:    sqlite.PluginName,
		VisibilityStore: sqlite.PluginName,
		// Fixed when the database is created; one is what SQLite's single
		// writer can use.
		NumHistoryShards: 1,
		DataStores:       map[string]config.DataStore{sqlite.PluginName: {SQL: store, FaultInjection: cfg.Faults}},
	}, services)
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, port := range services {
		hosts[name] = static.SingleLocalHost(hostPort(port))
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(serverLog{to: cfg.Logger}),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
		temporal.WithDynamicConfigClient(settings),
	)
	if err != nil {
		return nil, fmt.Errorf("building the Temporal server: %w", err)
	}
	return server, nil
}

// newSettings returns Tuning in a form that can change while the server runs.
func newSettings() *dynamicconfig.MemoryClient {
	settings := dynamicconfig.NewMemoryClient()
	for key, value := range Tuning() {
		settings.OverrideValue(key, value)
	}
	return settings
}

// ServerConfig configures all services of a server, each on a port of loopback, over a
// store of state. Nothing is archived.
func ServerConfig(store config.Persistence, services map[primitives.ServiceName]int) *config.Config {
	frontend := hostPort(services[primitives.FrontendService])
	conf := &config.Config{
		Services:    map[string]config.Service{},
		Persistence: store,
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: frontend},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: frontend},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchival{State: config.ArchivalDisabled},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: config.ArchivalDisabled},
		}},
	}
	conf.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback}
	for name, port := range services {
		conf.Services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnLocalHost: true}}
	}
	return conf
}

// Bounds of the server's caches.
const (
	evictAtOnce     = 1024 // of runs, while others wait for the cache
	eventsForOthers = 64 << 10
)

// Tuning is the measured set for one machine: with the server's defaults a
// text takes 100 ms through two activities, with these 10 to 15 ms, and
// timers under a second are 10 ms late instead of a second.
func Tuning() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		dynamicconfig.TransferProcessorMaxPollRPS.Key(): 1000,
		dynamicconfig.TimerProcessorMaxTimeShift.Key():  10 * time.Millisecond,
		// Twenty reads of timers a second made each skip of time wait for up to a fifth.
		dynamicconfig.TimerProcessorMaxPollRPS.Key():      5000,
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): 1000,
		// Timers are read every 10 ms now, and the server takes a second in which
		// it read three times for one where it is stuck: it moves that second's
		// timers to a slower reader, where a wave of prompts was minutes late.
		dynamicconfig.QueueReaderStuckCriticalAttempts.Key():    0,
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
		dynamicconfig.MatchingEnableFairness.Key():              true,
		// A worker that stops gets its calls for tasks back first: a task that was
		// handed to one of them was not worked on until its time-out.
		dynamicconfig.EnableCancelWorkerPollsOnShutdown.Key(): true,
		// Finished tasks are forgotten every second instead of every thirty: the
		// lists of them took a quarter of the server's memory traffic.
		dynamicconfig.TransferProcessorUpdateAckInterval.Key():   time.Second,
		dynamicconfig.TimerProcessorUpdateAckInterval.Key():      time.Second,
		dynamicconfig.VisibilityProcessorUpdateAckInterval.Key(): time.Second,
		// The server keeps a run at hand that it has worked on, some 20 KB each, up
		// to 128,000 of them. One that rests is let go after a minute or two, and
		// read from the tables when it wakes.
		dynamicconfig.HistoryCacheTTL.Key(): time.Minute,
		dynamicconfig.HistoryCacheBackgroundEvict.Key(): dynamicconfig.CacheBackgroundEvictSettings{
			Enabled: true, LoopInterval: time.Minute, MaxEntryPerCall: evictAtOnce,
		},
		// Events for other clusters, of which there are none: 8 MB by default.
		dynamicconfig.XDCCacheMaxSizeBytes.Key(): eventsForOthers,
		// Attributes added after the start are seen at once. Each use of an
		// attribute reads them anew, which is why the two limits below are raised;
		// Start turns it off once its own attributes are there.
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
		// Sizes of payloads that are stored elsewhere, of which there are none: a
		// visit to each event took 3 % of the processor of a reply.
		dynamicconfig.ExternalPayloadsEnabled.Key():   false,
		dynamicconfig.FrontendPersistenceMaxQPS.Key(): 10000,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():  45000,
		// No call home from a developer's machine.
		dynamicconfig.EnableServerVersionCheck.Key(): false,
	}
}
