// The one table of settings. A row is everything there is to know about a setting: its names, its
// parser, its default, one line of help. Flags, environment, file, README and `config show` come from it.
import {
  bool,
  consoleBase,
  integer,
  list,
  natsUrls,
  oneOf,
  origins,
  type Parser,
  port,
  seconds,
  secretKeys,
  secretText,
  streamName,
  subjectTokens,
  text,
  token,
  url,
} from './parsers.js'

export interface Setting<T> {
  group: string
  env: string
  /** Older or foreign names that mean the same; the first one set wins. */
  envAliases: readonly string[]
  /** Long flag of `serve` and of every subcommand that connects somewhere. */
  flag: string | undefined
  parser: Parser<T>
  default: T
  help: string
  /** Masked wherever it is shown, an address only in part; may also be given as <ENV>_FILE. */
  secret: boolean | 'address'
}

interface Extra {
  flag?: string
  aliases?: readonly string[]
  secret?: boolean | 'address'
}

function setting<T, D extends T | undefined>(
  group: string,
  env: string,
  parser: Parser<T>,
  defaultValue: D,
  help: string,
  extra: Extra = {},
): Setting<T | D> {
  return {
    group,
    env,
    envAliases: extra.aliases ?? [],
    flag: extra.flag,
    parser,
    default: defaultValue,
    help,
    secret: extra.secret ?? false,
  }
}

const secret = { secret: true } as const
const address = { secret: 'address' } as const

// biome-ignore format: one row per setting reads as the table it is
export const KEYS = {
  dataDir: setting('Embedded', 'NOETL_CP_DATA_DIR', text, undefined, 'Folder of the embedded servers; default /var/lib/noetl-cp for root, else ~/.local/share/noetl-cp', { flag: 'data-dir' }),
  embeddedPostgresPort: setting('Embedded', 'NOETL_CP_POSTGRES_PORT', port, undefined, 'Port of the embedded Postgres; default any free one', { flag: 'postgres-port' }),
  embeddedNatsPort: setting('Embedded', 'NOETL_CP_NATS_PORT', port, undefined, 'Port of the embedded nats-server; default any free one', { flag: 'nats-port' }),
  natsServerPath: setting('Embedded', 'NOETL_CP_NATS_SERVER', text, undefined, 'The nats-server binary to run; default the one on PATH'),

  databaseUrl: setting('Postgres', 'NOETL_DATABASE_URL', url('postgres', 'postgresql'), undefined, 'Database to use instead of the embedded one', { flag: 'database-url', ...address }),
  postgresHost: setting('Postgres', 'POSTGRES_HOST', text, undefined, 'Host, when there is no URL; setting any of the family leaves the embedded mode'),
  postgresPort: setting('Postgres', 'POSTGRES_PORT', port, 5432, 'Port, when there is no URL'),
  postgresUser: setting('Postgres', 'POSTGRES_USER', text, 'noetl', 'User, when there is no URL'),
  postgresPassword: setting('Postgres', 'POSTGRES_PASSWORD', secretText, undefined, 'Password, when there is no URL', secret),
  postgresDatabase: setting('Postgres', 'POSTGRES_DATABASE', text, 'noetl', 'Database name, when there is no URL'),
  postgresMaxConnections: setting('Postgres', 'POSTGRES_MAX_CONNECTIONS', integer(2, 500), 10, 'Connections per database'),
  postgresAcquireTimeoutSeconds: setting('Postgres', 'POSTGRES_ACQUIRE_TIMEOUT', seconds(0.1, 300), 10, 'Longest wait for a free connection'),
  postgresConnectTimeoutSeconds: setting('Postgres', 'NOETL_CP_PG_CONNECT_TIMEOUT', seconds(0.1, 60), 5, 'Longest wait for a new connection'),
  postgresQueryTimeoutSeconds: setting('Postgres', 'NOETL_CP_PG_QUERY_TIMEOUT', seconds(0.1, 3600), 15, 'Deadline of an ordinary query; the connection is dropped when it passes'),
  statementCacheCapacity: setting('Postgres', 'NOETL_PG_STATEMENT_CACHE_CAPACITY', integer(0, 10000), 100, '0 turns prepared statements off (PgBouncer in transaction mode)'),
  postgresSslMode: setting('Postgres', 'POSTGRES_SSLMODE', oneOf('disable', 'prefer', 'require', 'verify-ca', 'verify-full'), 'disable', 'TLS to databases that name no sslmode themselves, however they are named; prefer counts as disable', { aliases: ['PGSSLMODE'] }),
  postgresTlsCa: setting('Postgres', 'NOETL_CP_PG_TLS_CA', text, undefined, 'Path of the CA (PEM) for sslmode=verify-ca or verify-full'),
  autoMigrate: setting('Postgres', 'NOETL_AUTO_MIGRATE', bool, false, 'Let serve apply pending migrations to an existing schema', { flag: 'auto-migrate' }),

  natsUrl: setting('NATS', 'NOETL_NATS_URL', natsUrls, undefined, 'nats:// or tls:// address, several separated by commas; without it outbox rows wait', { flag: 'nats-url', aliases: ['NOETL_EVENT_NATS_URL', 'NATS_URL'], ...address }),
  natsUser: setting('NATS', 'NOETL_NATS_USER', text, undefined, 'User name'),
  natsPassword: setting('NATS', 'NOETL_NATS_PASSWORD', secretText, undefined, 'Password', secret),
  natsToken: setting('NATS', 'NOETL_NATS_TOKEN', secretText, undefined, 'Token', secret),
  natsCredentials: setting('NATS', 'NOETL_NATS_CREDENTIALS', text, undefined, 'Path of a .creds file'),
  natsTlsCa: setting('NATS', 'NOETL_NATS_TLS_CA', text, undefined, 'Path of the CA certificate (PEM)'),
  natsTlsCert: setting('NATS', 'NOETL_NATS_TLS_CERT', text, undefined, 'Path of the client certificate (PEM)'),
  natsTlsKey: setting('NATS', 'NOETL_NATS_TLS_KEY', text, undefined, 'Path of the client key (PEM)'),
  natsMonitorUrl: setting('NATS', 'NOETL_NATS_MONITOR_URL', url('http', 'https'), undefined, 'Monitoring address of nats-server, read by doctor for durability settings'),
  streamName: setting('NATS', 'NOETL_EVENT_NATS_STREAM', streamName, 'NOETL_EVENTS', 'JetStream stream of the events'),
  subjectPrefix: setting('NATS', 'NOETL_EVENT_NATS_SUBJECT_PREFIX', subjectTokens, 'noetl.events', 'First tokens of every event subject'),
  subjectTemplate: setting('NATS', 'NOETL_CP_SUBJECT_TEMPLATE', text, '{prefix}.{tenant}.{organization}.{execution}.{shard}', 'Subject of an event; {prefix} is the setting above'),
  subjectShardCount: setting('NATS', 'NOETL_EVENT_NATS_SHARD_COUNT', integer(1, 1024), undefined, 'Shards named in subjects; default the number of databases'),
  streamReplicas: setting('NATS', 'NOETL_CP_STREAM_REPLICAS', integer(1, 5), 1, 'Replicas of a stream that we create'),
  streamRetentionSeconds: setting('NATS', 'NOETL_EVENT_STREAM_RETENTION_SECS', seconds(60, 315360000), 86400, 'How long the stream keeps a message'),
  streamDedupWindowSeconds: setting('NATS', 'NOETL_EVENT_STREAM_DEDUP_SECS', seconds(1, 86400), 120, 'How long JetStream remembers a message id'),

  relayEnabled: setting('Outbox', 'NOETL_CP_RELAY', bool, true, 'Publish outbox rows to the stream'),
  outboxPage: setting('Outbox', 'NOETL_OUTBOX_PUBLISHER_BATCH_SIZE', integer(1, 10000), 1000, 'Rows read at a time'),
  outboxIdleSeconds: setting('Outbox', 'NOETL_OUTBOX_PUBLISHER_IDLE_SLEEP_SECONDS', seconds(0.05, 60), 0.25, 'Pause between polls when there is nothing to publish'),
  outboxWindow: setting('Outbox', 'NOETL_CP_OUTBOX_WINDOW', integer(1, 16384), 1024, 'Acknowledgements outstanding at a time'),
  outboxLeaseSeconds: setting('Outbox', 'NOETL_CP_OUTBOX_LEASE', seconds(3, 15), 10, 'Lease of a lane; a relay that died is replaced within it'),
  outboxAckTimeoutSeconds: setting('Outbox', 'NOETL_CP_OUTBOX_ACK_TIMEOUT', seconds(0.1, 60), 5, 'Longest wait for an acknowledgement'),
  outboxAttemptsMax: setting('Outbox', 'NOETL_CP_OUTBOX_MAX_ATTEMPTS', integer(1, 1000), 20, 'Refusals of a row before it is dead'),
  outboxDeadPolicy: setting('Outbox', 'NOETL_CP_OUTBOX_DEAD_POLICY', oneOf('release', 'hold'), 'release', 'What a dead row does to later rows of its execution'),
  outboxClaimLeaseSeconds: setting('Outbox', 'NOETL_CP_OUTBOX_CLAIM_LEASE', seconds(1, 3600), 15, 'Lease of rows claimed over HTTP'),
  outboxNotify: setting('Outbox', 'NOETL_CP_OUTBOX_NOTIFY', bool, true, 'Wake relays in other processes by LISTEN/NOTIFY; polling goes on either way'),
  outboxAgeMaxSeconds: setting('Outbox', 'NOETL_CP_OUTBOX_MAX_AGE', seconds(0, 864000), 300, 'Age of the oldest unpublished row that turns readiness red; 0 turns it off'),
  outboxRetentionSeconds: setting('Outbox', 'NOETL_CP_OUTBOX_RETENTION', seconds(0, 315360000), 86400, 'How long published rows are kept for audits'),
  publicUrl: setting('Outbox', 'NOETL_PUBLIC_SERVER_URL', url('http', 'https'), undefined, 'Our address as consumers see it, in references to payloads too large for the stream'),

  shards: setting('Shards', 'NOETL_SHARDS', text, undefined, 'Databases of the executions: postgres:// URLs or host=..;user=..;password=.. items, separated by commas', address),
  clusterDsn: setting('Shards', 'NOETL_CLUSTER_DSN', text, undefined, 'Database of the cluster-wide tables; default the first shard', address),
  shardIndex: setting('Shards', 'NOETL_SHARD_INDEX', text, undefined, 'Which share of the executions this daemon drives; default 0'),
  shardCount: setting('Shards', 'NOETL_SHARD_COUNT', text, undefined, 'Number of such shares; default 1'),
  shardIndexFromHostname: setting('Shards', 'NOETL_SHARD_INDEX_FROM_HOSTNAME', bool, false, 'Take the index from a host name that ends in -<number>'),
  machineId: setting('Ids', 'NOETL_SERVER_MACHINE_ID', text, undefined, 'Machine id 0..1023 of the ids we mint; default a free one of 0..1007, looked for from a hash of the host name on. Commands that write take one of 1008..1023'),
  hostName: setting('Ids', 'HOSTNAME', text, undefined, 'Host name the machine id and shard index come from', { aliases: ['COMPUTERNAME'] }),

  remoteUrl: setting('Commands', 'NOETL_CP_URL', url('http', 'https'), undefined, 'Daemon that a command speaks to over HTTP, instead of working on the database', { flag: 'url' }),
  remoteToken: setting('Commands', 'NOETL_CP_TOKEN', secretText, undefined, 'Bearer token for it', { flag: 'token', ...secret }),

  httpHost: setting('HTTP', 'NOETL_HOST', text, '127.0.0.1', 'Address to listen on', { flag: 'host' }),
  httpPort: setting('HTTP', 'NOETL_PORT', port, 8082, 'Port to listen on; 0 takes any free one', { flag: 'port' }),
  internalToken: setting('HTTP', 'NOETL_INTERNAL_API_TOKEN', token, undefined, 'Bearer token of /api/internal; without one those routes answer 503', secret),
  internalTokenPrevious: setting('HTTP', 'NOETL_INTERNAL_API_TOKEN_PREVIOUS', token, undefined, 'Second valid token while the first is being rotated', secret),
  apiToken: setting('HTTP', 'NOETL_API_TOKEN', token, undefined, 'Bearer token of the public API; needed to listen beyond loopback', secret),
  apiTokenPrevious: setting('HTTP', 'NOETL_API_TOKEN_PREVIOUS', token, undefined, 'Second valid token while the first is being rotated', secret),
  viewerToken: setting('HTTP', 'NOETL_VIEWER_TOKEN', token, undefined, 'Bearer token that reads the public API and changes nothing', secret),
  consoleMode: setting('HTTP', 'NOETL_CP_CONSOLE', oneOf('on', 'read-only', 'off'), 'on', 'The web console: read-only makes a viewer of every session and refuses writes of web pages that send no token; off has no sessions'),
  activityRetentionDays: setting('HTTP', 'NOETL_CP_ACTIVITY_RETENTION_DAYS', integer(30, 36500), 365, 'How long the record of what people did is kept'),
  allowOpenApi: setting('HTTP', 'NOETL_ALLOW_OPEN_API', bool, false, 'Allow a public API without token on a non-loopback address, and writes without one where they could start code; web pages of other sites are kept out all the same'),
  allowedHosts: setting('HTTP', 'NOETL_CP_ALLOWED_HOSTS', list, [], 'Further names (or name:port) accepted in Host and Origin by an API without token; the one of NOETL_PUBLIC_SERVER_URL is implied'),
  corsOrigins: setting('HTTP', 'NOETL_CP_CORS_ORIGINS', origins, [], 'Origins whose web pages may call the API from a browser, such as https://gui.example:8443, separated by commas; exact, none by default'),
  eventLimitMb: setting('HTTP', 'NOETL_CP_EVENT_LIMIT_MB', integer(1, 64), 4, 'Largest body that is one event or one document: /api/events, /api/execute, /ingress, /api/catalog/register'),
  bodyLimitMb: setting('HTTP', 'NOETL_CP_BODY_LIMIT_MB', integer(1, 256), 16, 'Largest body of a batch: /api/events/batch, /api/execute/batch; other routes take 64 KB'),
  uploadLimitMb: setting('HTTP', 'NOETL_CP_UPLOAD_LIMIT_MB', integer(1, 4096), 64, 'Largest body that is handed on as it comes'),
  bodiesMb: setting('HTTP', 'NOETL_CP_BODIES_MB', integer(16, 65536), 128, 'Memory of all request bodies that arrive or are being worked on; beyond it the one that has been arriving longest gives way with 503'),
  pageMb: setting('HTTP', 'NOETL_CP_PAGE_MB', integer(1, 256), 8, 'About where a page of large things ends: the catalog list goes on with next_cursor, events keep their rows and refer to /api/executions/{id}/events/{event_id}'),
  answersMb: setting('HTTP', 'NOETL_CP_ANSWERS_MB', integer(16, 65536), 128, 'Memory of all answers that wait to be read by their callers; beyond it the connection that has been silent longest is cut'),
  pipelineMax: setting('HTTP', 'NOETL_CP_PIPELINE_MAX', integer(0, 1000), 32, 'Requests of one connection that may wait for the answer before them; a connection that sends more is cut'),
  requestTimeoutSeconds: setting('HTTP', 'NOETL_CP_REQUEST_TIMEOUT', seconds(1, 600), 30, 'Longest time a client may take to send a request'),
  disableMetrics: setting('HTTP', 'NOETL_DISABLE_METRICS', bool, false, 'Remove /metrics'),
  sqlRoute: setting('HTTP', 'NOETL_CP_SQL_ROUTE', bool, false, 'Serve /api/postgres/execute: any SQL, with the internal token'),
  tlsCert: setting('HTTP', 'NOETL_TLS_CERT', text, undefined, 'Path of the server certificate (PEM); with NOETL_TLS_KEY the API speaks TLS'),
  tlsKey: setting('HTTP', 'NOETL_TLS_KEY', text, undefined, 'Path of the server key (PEM)'),
  tlsClientCa: setting('HTTP', 'NOETL_TLS_CLIENT_CA', text, undefined, 'Path of a CA; callers must then present a certificate of it'),

  redact: setting('Events', 'NOETL_CP_REDACT', bool, true, 'Hide secrets in everything that is stored, published and shown; what a later step needs is kept sealed'),
  redactKeys: setting('Events', 'NOETL_CP_REDACT_KEYS', list, [], 'Further names whose values are secrets, matched by word: pin also means card_pin'),
  secretKeys: setting('Events', 'NOETL_CP_SECRET_KEY', secretKeys, undefined, 'Key that seals secrets in events, the same in every daemon; older keys after it, separated by spaces or commas, still open. Embedded: made at the first start', secret),
  projectorEnabled: setting('Events', 'NOETL_CP_PROJECTOR', bool, true, 'Store events that other installations publish to the stream'),
  projectorConsumer: setting('Events', 'NOETL_PROJECTOR_NATS_CONSUMER', text, undefined, 'Durable consumer of the projector; default one per installation'),
  claimCheckHosts: setting('Events', 'NOETL_CP_CLAIM_CHECK_HOSTS', list, [], 'Hosts (or host:port) from which the projector and replay --resolve-payloads fetch payloads; the address of NOETL_PUBLIC_SERVER_URL is implied'),
  claimCheckToken: setting('Events', 'NOETL_CP_CLAIM_CHECK_TOKEN', secretText, undefined, 'Bearer token for those hosts', secret),
  adoptIntervalSeconds: setting('Events', 'NOETL_CP_ADOPT_INTERVAL', seconds(0.05, 3600), 1, 'How often to look for events that others wrote straight into the table'),
  publishAdopted: setting('Events', 'NOETL_CP_PUBLISH_ADOPTED', bool, false, 'Publish events that others write straight into the table, from the moment this is switched on; the same for every daemon of an installation'),
  partitionsAhead: setting('Events', 'NOETL_CP_PARTITIONS_AHEAD', integer(1, 24), 3, 'Months for which the daemon makes event partitions ahead of time'),
  eventRetentionDays: setting('Events', 'NOETL_CP_EVENT_RETENTION_DAYS', integer(0, 36500), 0, 'Drop events of executions that ended more days ago than this; 0 keeps everything'),

  engineEnabled: setting('Engine', 'NOETL_CP_ENGINE', bool, true, 'Run playbooks: executions that are started here are driven to their end. Off: they wait for events that others send'),
  engineLoopInFlight: setting('Engine', 'NOETL_CP_ENGINE_LOOP_IN_FLIGHT', integer(1, 100000), 200, 'Commands of a parallel loop at a time, if the loop does not say'),
  engineMaxVisits: setting('Engine', 'NOETL_CP_ENGINE_MAX_VISITS', integer(1, 10000000), 10000, 'Visits of one step; an execution that makes more runs in circles and fails'),
  engineChildDepth: setting('Engine', 'NOETL_CP_ENGINE_CHILD_DEPTH', integer(1, 1000), 20, 'Playbooks that start playbooks, one inside of the other; deeper ones are refused, so that a circle ends'),
  onFailure: setting('Engine', 'NOETL_CP_ON_FAILURE', text, undefined, 'What happens when an execution fails whose playbook has no metadata.on_failure: the path of a playbook to start, or an address to POST to'),
  resultLimitMb: setting('Engine', 'NOETL_CP_RESULT_LIMIT_MB', integer(1, 1024), 64, 'Largest result of a step: PUT /api/result'),
  resultQuotaMb: setting('Engine', 'NOETL_CP_RESULT_QUOTA_MB', integer(1, 1048576), 1024, 'Stored results of one execution together, compressed'),
  engineEnv: setting('Engine', 'NOETL_CP_ENGINE_ENV', list, [], 'Names of the environment of the daemon that templates may read as env.<name>; give every daemon the same'),
  engineToolErrors: setting('Engine', 'NOETL_CP_ENGINE_TOOL_ERRORS', oneOf('strict', 'reference'), 'strict', 'strict: a tool that failed fails its step; reference: it counts as a success if its worker completed the command, as in the NoETL server'),
  engineNativeNoop: setting('Engine', 'NOETL_CP_ENGINE_NATIVE_NOOP', bool, true, 'Run steps of kind noop in the engine instead of sending them to a worker'),
  commandNotify: setting('Engine', 'NOETL_CP_COMMAND_NOTIFY', bool, true, 'Tell workers of other programs of commands by NATS. The built-in worker needs none of it'),
  commandStream: setting('Engine', 'NOETL_COMMAND_NATS_STREAM', streamName, 'noetl_commands', 'JetStream stream that tells workers of commands; one that binds noetl.commands.> already is used as it is, name it here'),
  commandPollMs: setting('Engine', 'NOETL_CP_COMMAND_POLL_MS', integer(10, 60000), 500, 'How often waiting workers of this daemon look for commands that other daemons have issued'),
  commandHardLimitSeconds: setting('Engine', 'NOETL_CP_COMMAND_HARD_LIMIT', seconds(1, 8640000), 1800, 'How long a worker may hold a command that it gives no sign of life for, though the worker itself lives; a longer time-out of the step counts instead'),
  engineCommandContext: setting('Engine', 'NOETL_CP_ENGINE_COMMAND_CONTEXT', oneOf('needed', 'full'), 'needed', 'What commands carry beside their arguments: the values that their templates read, or the whole context'),

  stateEnabled: setting('State', 'NOETL_CP_STATE', bool, true, 'Drive executions: keep their live states up to date and decide for them'),
  stateThreads: setting('State', 'NOETL_CP_STATE_THREADS', integer(0, 64), 0, 'Threads that hold live states; 0 takes one less than the cores, at least 1'),
  stateEntriesMax: setting('State', 'NOETL_CP_STATE_MAX_ENTRIES', integer(1, 10000000), 10000, 'Live states in memory; the longest unused go first, with a snapshot'),
  stateMemoryMb: setting('State', 'NOETL_CP_STATE_MEMORY_MB', integer(1, 65536), 256, 'Memory of live states, likewise'),
  stateLeaseSeconds: setting('State', 'NOETL_CP_STATE_LEASE', seconds(3, 60), 10, 'Lease of a lane of executions; a daemon that died is replaced within it'),
  stateNotify: setting('State', 'NOETL_CP_STATE_NOTIFY', bool, true, 'Tell other daemons about events of their executions by LISTEN/NOTIFY; the reconciler finds them either way'),
  snapshotEvents: setting('State', 'NOETL_CP_SNAPSHOT_EVENTS', integer(1, 10000000), 500, 'Events between two snapshots of a live state'),
  snapshotAtEnd: setting('State', 'NOETL_CP_SNAPSHOT_AT_END', oneOf('remove', 'keep'), 'remove', 'What becomes of the snapshot when its execution ends'),

  consoleBase: setting('Console', 'NOETL_CP_CONSOLE_BASE', consoleBase, '/console', 'Where browsers see the console; behind a proxy that puts /noetl before our paths it is /noetl/console, whether the proxy takes it away again or not'),
  consoleMemoryMb: setting('Console', 'NOETL_CP_CONSOLE_MEMORY_MB', integer(16, 65536), 512, 'Memory of tapes and keyframes for those who scrub through executions; the longest unused go first'),

  workerEnabled: setting('Workers', 'NOETL_CP_WORKER', bool, true, 'Run commands of playbooks in this daemon'),
  workerSlots: setting('Workers', 'NOETL_CP_WORKER_SLOTS', integer(1, 1000), 16, 'Commands that run at a time; one that only waits for a child playbook lends its slot', { flag: 'worker-slots' }),
  workerPools: setting('Workers', 'NOETL_CP_WORKER_POOLS', list, ['shared', 'system', 'subscription'], 'Pools whose commands this worker takes', { flag: 'worker-pools' }),
  workerAllow: setting('Workers', 'NOETL_CP_WORKER_ALLOW', list, [], 'Which of python, shell and container steps may run on this machine; empty runs none of them. With any, every write needs a token', { flag: 'worker-allow' }),
  workerProcesses: setting('Workers', 'NOETL_CP_WORKER_PROCESSES', integer(0, 10000), 0, 'How many steps of kind python, shell, script and container run at a time, of each; 0 takes four per core. Those above wait for their turn, in their slot'),
  workerPython: setting('Workers', 'NOETL_CP_WORKER_PYTHON', text, 'python3', 'Interpreter of steps of kind python'),
  workerDataDir: setting('Workers', 'NOETL_CP_WORKER_DATA_DIR', text, undefined, 'The one folder whose files steps may name (scripts, artifacts, duckdb); default worker in the data folder'),
  workerHttpAllow: setting('Workers', 'NOETL_CP_WORKER_HTTP_ALLOW', list, [], 'Hosts, addresses or host:port that steps of kind http may reach although they are refused otherwise: our own listeners, our database and NATS, link-local and metadata addresses'),
  workerHttpDenyPrivate: setting('Workers', 'NOETL_CP_WORKER_HTTP_DENY_PRIVATE', bool, false, 'Refuse private networks to steps of kind http'),
  credentialsFile: setting('Workers', 'NOETL_CP_CREDENTIALS_FILE', text, undefined, 'JSON list of {name, type, data}, read at the start; NOETL_CRED_<NAME>_<FIELD> in the environment works beside it'),
  credentialKeys: setting('Workers', 'NOETL_CP_CREDENTIALS_KEY', secretKeys, undefined, 'Key that seals stored credentials; older keys after it, separated by spaces or commas, still open. Default NOETL_CP_SECRET_KEY', secret),
  workerThreads: setting('Workers', 'NOETL_CP_WORKER_THREADS', integer(0, 64), 0, 'Threads for replay and other one-shot work; 0 takes the number of cores, at least 2'),
  workerQueueMax: setting('Workers', 'NOETL_CP_WORKER_QUEUE_MAX', integer(1, 100000), 256, 'Tasks that may wait for a thread'),
  workerMemoryMb: setting('Workers', 'NOETL_CP_WORKER_MEMORY_MB', integer(64, 65536), 1024, 'Heap of one thread'),
  workerTaskTimeoutSeconds: setting('Workers', 'NOETL_CP_WORKER_TASK_TIMEOUT', seconds(0.1, 86400), 300, 'Deadline of one task'),

  replayProfile: setting('Replay', 'NOETL_REPLAY_PROFILE', oneOf('cp', 'python', 'server'), 'cp', 'Fold rules when a request names none; python and server repeat those of the NoETL server, the older and the newer generation'),
  replayTimeoutSeconds: setting('Replay', 'NOETL_CP_REPLAY_TIMEOUT', seconds(0.1, 86400), 300, 'Deadline of one replay'),
  replayPayloadLimitMb: setting('Replay', 'NOETL_CP_REPLAY_PAYLOAD_LIMIT_MB', integer(1, 1024), 32, 'Largest payload that a replay with --resolve-payloads reads, and an eighth of all of them together'),
  replayPayloadTimeoutSeconds: setting('Replay', 'NOETL_CP_REPLAY_PAYLOAD_TIMEOUT', seconds(0.1, 3600), 10, 'Time for the payloads of one replay together; the others are reported as not read'),
  replaySnapshotEvents: setting('Replay', 'NOETL_CP_REPLAY_SNAPSHOT_EVENTS', integer(0, 1000000000), 50000, 'Events after which the daemon stores a snapshot to replay from, and again after as many; 0 turns it off'),

  subscriptionsEnabled: setting('Subscriptions', 'NOETL_CP_SUBSCRIPTIONS', bool, true, 'Drive active pull subscriptions'),
  subscriptionLeaseSeconds: setting('Subscriptions', 'NOETL_CP_SUBSCRIPTION_LEASE', seconds(3, 300), 10, 'Lease of a subscription; a daemon that died is replaced within it'),
  subscriptionAttemptsMax: setting('Subscriptions', 'NOETL_CP_SUBSCRIPTION_MAX_ATTEMPTS', integer(1, 100), 5, 'Failures of a message before it is given up'),
  secretsDir: setting('Subscriptions', 'NOETL_SECRETS_DIR', text, undefined, 'Folder with one file per secret that catalog entries name; NOETL_SECRET_<ALIAS> goes before it'),

  logLevel: setting('Logs', 'NOETL_CP_LOG_LEVEL', oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), 'info', 'Least level that is written', { flag: 'log-level' }),
  logFormat: setting('Logs', 'NOETL_CP_LOG_FORMAT', oneOf('auto', 'json', 'pretty'), 'auto', 'auto is pretty on a terminal and JSON otherwise'),
  shutdownTimeoutSeconds: setting('Daemon', 'NOETL_CP_SHUTDOWN_TIMEOUT', seconds(0.1, 600), 20, 'Longest graceful stop'),
} satisfies Record<string, Setting<unknown>>

export type Keys = typeof KEYS
export type KeyName = keyof Keys
export type Config = { readonly [K in KeyName]: Keys[K] extends Setting<infer T> ? T : never } & {
  /** Beside every setting in seconds the same time in milliseconds, which timers take. */
  readonly [K in KeyName as K extends `${infer Name}Seconds` ? `${Name}Ms` : never]: number
}
