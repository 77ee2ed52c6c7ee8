// Written by "make client" from the routes of the server; not to be changed by hand.

export interface Operations {
  deleteCredentialsByName: {
    params: { name: string }
    query: Record<never, never>
    body: undefined
    answer: { status?: string; name?: string }
  }
  deleteDaemonConsoleSession: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { ok?: boolean }
  }
  deleteVarsByExecutionIdByName: {
    params: { execution_id: string; name: string }
    query: Record<never, never>
    body: undefined
    answer: { status?: string; execution_id?: string; name?: string }
  }
  deleteWorkerPoolDeregister: {
    params: Record<never, never>
    query: Record<never, never>
    body: { name: string; kind?: string | null; component_type?: string | null }
    answer: { status?: string; message?: string }
  }
  getActivity: {
    params: Record<never, never>
    query: { actor?: string; action?: string; target?: string; since?: string; cursor?: string; limit?: number }
    body: undefined
    answer: { activity?: readonly ({ id?: string; at?: string; actor?: string; role?: string; via?: 'console' | 'api' | 'cli'; action?: string; target_kind?: string | null; target_id?: string | null; reason?: string | null; request?: unknown; outcome?: 'intent' | 'done' | 'refused' | 'failed'; error?: string | null; finished_at?: string | null })[]; next_cursor?: string | null }
  }
  getBulk: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { jobs?: readonly ({ job_id?: string; kind?: string; actor?: string; reason?: string | null; state?: 'running' | 'done' | 'stopped' | 'failed'; started_at?: string; ended_at?: string | null; matched?: number | null; done?: number; refused?: number; failed?: number; troubles?: readonly ({ target?: string; outcome?: string; error?: string })[]; error?: string | null; report?: Record<string, unknown> | null; kept?: string })[] }
  }
  getBulkByJobId: {
    params: { job_id: string }
    query: Record<never, never>
    body: undefined
    answer: { job_id?: string; kind?: string; actor?: string; reason?: string | null; state?: 'running' | 'done' | 'stopped' | 'failed'; started_at?: string; ended_at?: string | null; matched?: number | null; done?: number; refused?: number; failed?: number; troubles?: readonly ({ target?: string; outcome?: string; error?: string })[]; error?: string | null; report?: Record<string, unknown> | null; kept?: string }
  }
  getCatalogByPathUiSchema: {
    params: { path: string }
    query: { version?: string }
    body: undefined
    answer: { path?: string; version?: number; kind?: string; title?: string; description_markdown?: string | null; exposed_in_ui?: boolean; fields?: readonly ({ name?: string; kind?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null' | 'enum'; default?: unknown; description?: string | null; secret?: boolean; credential_glob?: string | null; options?: readonly string[]; children?: readonly (Record<string, unknown>)[] })[]; generated_at?: string }
  }
  getCatalogPlaybookContent: {
    params: Record<never, never>
    query: { playbook_id?: string }
    body: undefined
    answer: { path?: string; version?: number; catalog_id?: string; kind?: string; content?: string | null }
  }
  getCatalogUsedBy: {
    params: Record<never, never>
    query: { path?: string }
    body: undefined
    answer: { path?: string; users?: readonly ({ kind?: 'playbook' | 'subscription'; path?: string; version?: number; catalog_id?: string; subscription_id?: string | null; state?: string | null; places?: readonly ({ pointer?: string; step?: string | null })[] })[]; schedule?: { cron?: string; timezone?: string; next_at?: string | null; paused?: boolean } | null; on_failure_of_all?: boolean; is_complete?: boolean }
  }
  getCommands: {
    params: Record<never, never>
    query: { execution_id?: string; status?: 'PENDING' | 'CLAIMED' | 'RUNNING' | 'PARKED' | 'COMPLETED' | 'FAILED' | 'CANCELLED'; pool?: string; after?: string; limit?: number }
    body: undefined
    answer: { items?: readonly unknown[]; count?: number }
  }
  getCommandsByEventId: {
    params: { event_id: string }
    query: Record<never, never>
    body: undefined
    answer: { status?: string; event_id?: string; execution_id?: string; node_id?: string; node_name?: string; action?: string; context?: Record<string, unknown>; meta?: Record<string, unknown> }
  }
  getCredentials: {
    params: Record<never, never>
    query: { type?: string; q?: string; include_data?: boolean }
    body: undefined
    answer: { items?: readonly ({ id?: string; name?: string; type?: string; data?: Record<string, unknown> | null })[] }
  }
  getCredentialsByName: {
    params: { name: string }
    query: { include_data?: boolean; execution_id?: string }
    body: undefined
    answer: { id?: string; name?: string; type?: string; data?: Record<string, unknown> | null }
  }
  getDaemonHealth: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { status?: string }
  }
  getDaemonHealthz: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { status?: string; checks?: Record<string, unknown> }
  }
  getDaemonLivez: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { status?: string; uptime_seconds?: number }
  }
  getDaemonMetrics: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: unknown
  }
  getDaemonReadyz: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { status?: string; checks?: Record<string, unknown> }
  }
  getDashboardStats: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { status?: string; total_executions?: number; running_executions?: number; completed_executions?: number; successful_executions?: number; failed_executions?: number; cancelled_executions?: number; total_playbooks?: number; total_subscriptions?: number; active_workers?: number; estimated?: readonly string[] }
  }
  getDbValidate: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { status?: string; valid?: boolean; tables?: readonly string[]; missing?: readonly string[] }
  }
  getDoctor: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { checked_at?: string; problems?: number; findings?: readonly ({ level?: 'problem' | 'advice'; where?: string; finding?: string; fix?: string })[] }
  }
  getExecutions: {
    params: Record<never, never>
    query: { catalog_id?: string; path?: string; status?: string; since?: string; until?: string; q?: string; parent?: string; step?: string; tenant?: string; worker?: string; label?: string; min_seconds?: string; max_seconds?: string; order?: 'newest' | 'oldest'; limit?: number; offset?: number; cursor?: string }
    body: undefined
    answer: readonly ({ execution_id?: string; catalog_id?: string; path?: string | null; version?: number | null; status?: string; start_time?: string | null; end_time?: string | null; duration_seconds?: number | null; duration_human?: string | null; progress?: number; result?: unknown; error?: string | null; parent_execution_id?: string | null; started_at?: string | null; completed_at?: string | null; event_count?: number; last_event_id?: string | null; last_event_type?: string | null; current_step?: string | null; labels?: Record<string, unknown> })[]
  }
  getExecutionsByExecutionId: {
    params: { execution_id: string }
    query: { page?: number; page_size?: number; since_event_id?: string; event_type?: string; events?: number }
    body: undefined
    answer: { execution_id?: string; catalog_id?: string; path?: string | null; version?: number | null; status?: string; start_time?: string | null; end_time?: string | null; duration_seconds?: number | null; duration_human?: string | null; progress?: number; result?: unknown; error?: string | null; parent_execution_id?: string | null; started_at?: string | null; completed_at?: string | null; event_count?: number; last_event_id?: string | null; last_event_type?: string | null; current_step?: string | null; labels?: Record<string, unknown>; workload?: unknown; events?: readonly ({ execution_id?: string | null; event_id?: string | null; event_type?: string | null; node_id?: string | null; node_name?: string | null; status?: string | null; created_at?: string | null; timestamp?: string | null; context?: unknown; result?: unknown; error?: string | null; catalog_id?: string | null; parent_execution_id?: string | null; parent_event_id?: string | null; duration?: number | null })[]; pagination?: { page?: number; page_size?: number; total_events?: number; total_pages?: number; has_next?: boolean; has_prev?: boolean } }
  }
  getExecutionsByExecutionIdAt: {
    params: { execution_id: string }
    query: { position?: number; event?: string; version?: string; time?: string; part?: string; since?: number }
    body: undefined
    answer: { execution_id?: string; position?: number; total?: number; epoch?: string; event?: { event_id?: string; event_type?: string | null; node_name?: string | null } | null; version?: string | null; time?: string | null; head?: unknown; counts?: Record<string, unknown>; touched_count?: number; touched?: readonly ({ surface?: string; key?: string; before?: unknown; after?: unknown })[]; entities?: readonly ({ surface?: string; key?: string; value?: unknown })[]; pages?: readonly ({ surface?: string; from?: number; total?: number; entries?: readonly ({ key?: string; value?: unknown })[] })[]; since?: number; differences_count?: number; differences?: readonly ({ pointer?: string; kind?: string; from?: unknown; to?: unknown })[]; cost?: { keyframe?: number; folded?: number; ms?: number; distance?: number } }
  }
  getExecutionsByExecutionIdCancellationCheck: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: { execution_id?: string | null; is_cancelled?: boolean; cancelled?: boolean; completed?: boolean; failed?: boolean; status?: string }
  }
  getExecutionsByExecutionIdChecksum: {
    params: { execution_id: string }
    query: { position?: number; event?: string; version?: string; time?: string }
    body: undefined
    answer: { execution_id?: string; position?: number; event_id?: string | null; epoch?: string; checksum?: string; checksum_algorithm?: string; projection_checksums?: Record<string, unknown>; ms?: number }
  }
  getExecutionsByExecutionIdEvents: {
    params: { execution_id: string }
    query: { from?: number; limit?: number; order?: 'asc' | 'desc'; type?: string; step?: string; status?: string; q?: string }
    body: undefined
    answer: { execution_id?: string; total?: number; from?: number; order?: string; events?: readonly ({ position?: number; event_id?: string; stream_version?: string | null; event_type?: string | null; node_id?: string | null; node_name?: string | null; node_type?: string | null; status?: string | null; worker_id?: string | null; timestamp?: string; duration?: number | null; error?: string | null; bytes?: { context?: number; result?: number; meta?: number } })[] }
  }
  getExecutionsByExecutionIdEventsByEventId: {
    params: { execution_id: string; event_id: string }
    query: { part?: 'context' | 'result' | 'meta' | 'error' | 'stack_trace' | 'payload_ref' | 'trace_component'; bytes?: number }
    body: undefined
    answer: { execution_id?: string | null; event_id?: string | null; event_type?: string | null; node_id?: string | null; node_name?: string | null; status?: string | null; created_at?: string | null; timestamp?: string | null; context?: unknown; result?: unknown; error?: string | null; catalog_id?: string | null; parent_execution_id?: string | null; parent_event_id?: string | null; duration?: number | null; stream_version?: number; node_type?: string | null; worker_id?: string | null; meta?: unknown; stack_trace?: string | null; tenant_id?: string | null; organization_id?: string | null; event_time?: string | null; ingest_time?: string | null; envelope_checksum?: string | null }
  }
  getExecutionsByExecutionIdEventsStream: {
    params: { execution_id: string }
    query: { after_version?: string; follow?: boolean }
    body: undefined
    answer: unknown
  }
  getExecutionsByExecutionIdOrigin: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: { execution_id?: string; shard?: number; shards?: number; created?: { at?: string; catalog_id?: string; path?: string | null; parent_execution_id?: string | null } | null; instead?: { kind?: 'subscription' | 'catalog'; path?: string; version?: number | null } | null; nearest?: readonly ({ execution_id?: string; path?: string | null; status?: string; created_at?: string })[] }
  }
  getExecutionsByExecutionIdResult: {
    params: { execution_id: string }
    query: { step?: string }
    body: undefined
    answer: unknown
  }
  getExecutionsByExecutionIdState: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: { execution_id?: string; catalog_id?: string; state?: string; steps?: Record<string, unknown>; ctx?: Record<string, unknown>; vars?: Record<string, unknown>; workload?: unknown; path?: string; version?: number; started_at?: string; completed_at?: string; parent_execution_id?: string }
  }
  getExecutionsByExecutionIdStatus: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: { execution_id?: string | null; status?: string; current_step?: string | null; completed?: boolean; failed?: boolean; is_cancelled?: boolean; completed_steps?: readonly string[]; progress?: { total_steps?: number; completed_steps?: number; running_steps?: number; failed_steps?: number }; start_time?: string | null; end_time?: string | null; duration_seconds?: number | null; duration_human?: string | null; variables?: Record<string, unknown>; completion_inferred?: boolean; error?: string | null }
  }
  getExecutionsByExecutionIdTape: {
    params: { execution_id: string }
    query: { level?: 'auto' | 'full' | 'coarse'; from?: number; to?: number; wait_ms?: number }
    body: undefined
    answer: unknown
  }
  getExecutionsByExecutionIdWhyStuck: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: { execution_id?: string; status?: string; version?: number; findings?: readonly ({ reason?: string; what?: string; seconds?: number | null; next?: string; target?: { kind?: string; id?: string; step?: string }; actions?: readonly string[] })[] }
  }
  getExecutionsHistogram: {
    params: Record<never, never>
    query: { catalog_id?: string; path?: string; status?: string; since?: string; until?: string; q?: string; parent?: string; step?: string; tenant?: string; worker?: string; label?: string; min_seconds?: string; max_seconds?: string; buckets?: number }
    body: undefined
    answer: readonly ({ from?: string; to?: string; by_status?: Record<string, unknown> })[]
  }
  getExecutionsTimelines: {
    params: Record<never, never>
    query: { ids?: string }
    body: undefined
    answer: readonly ({ execution_id?: string; begins_at?: string; events?: number; looked_at?: number; steps?: readonly ({ step?: string; from_ms?: number; to_ms?: number | null; status?: string })[] })[]
  }
  getHealth: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { status?: string; database?: string; nats?: string; uptime_seconds?: number; version?: string; cluster_id?: string }
  }
  getInternalIngressByListener: {
    params: { listener: string }
    query: Record<never, never>
    body: undefined
    answer: { listener?: string; catalog_path?: string; source?: string; subscription_id?: string; state?: string; verify?: Record<string, unknown>; dispatch?: { playbook?: string; payload_from?: string; execution_pool?: string | null }; dedup?: { enabled?: boolean; window_secs?: number }; directives?: unknown }
  }
  getInternalOutboxDead: {
    params: Record<never, never>
    query: { execution_id?: string; shard?: number; cursor?: string; limit?: number; reason?: string; since?: string }
    body: undefined
    answer: { rows?: readonly ({ shard?: number; outbox_id?: string; execution_id?: string | null; event_id?: string; subject?: string | null; status?: string; attempts?: number; last_error?: string | null; stream_seq?: string | null; bytes?: number; lease_owner?: string | null; available_at?: string | null; created_at?: string | null; published_at?: string | null; updated_at?: string | null; lease_until?: string | null })[]; next_cursor?: string | null }
  }
  getInternalOutboxDeadGroups: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { groups?: readonly ({ reason?: string; count?: number; newest_at?: string; shard?: number; outbox_id?: string; execution_id?: string | null })[]; failed_shards?: readonly number[]; more?: boolean }
  }
  getInternalOutboxPendingCount: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { pending?: number }
  }
  getInternalOutboxRows: {
    params: Record<never, never>
    query: { execution_id?: string; shard?: number; cursor?: string; limit?: number; status?: 'PENDING' | 'FAILED' | 'IN_FLIGHT' | 'PUBLISHED' | 'DEAD' }
    body: undefined
    answer: { rows?: readonly ({ shard?: number; outbox_id?: string; execution_id?: string | null; event_id?: string; subject?: string | null; status?: string; attempts?: number; last_error?: string | null; stream_seq?: string | null; bytes?: number; lease_owner?: string | null; available_at?: string | null; created_at?: string | null; published_at?: string | null; updated_at?: string | null; lease_until?: string | null })[]; next_cursor?: string | null }
  }
  getInternalOutboxRowsByOutboxId: {
    params: { outbox_id: string }
    query: { shard?: number }
    body: undefined
    answer: { shard?: number; outbox_id?: string; execution_id?: string | null; event_id?: string; subject?: string | null; status?: string; attempts?: number; last_error?: string | null; stream_seq?: string | null; bytes?: number; lease_owner?: string | null; available_at?: string | null; created_at?: string | null; published_at?: string | null; updated_at?: string | null; lease_until?: string | null; payload_codec?: string; lane?: number; trace?: unknown; payload?: unknown }
  }
  getInternalOutboxStatus: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { shards?: readonly ({ shard?: number; label?: string; error?: string | null; backlog?: unknown; dead?: number | null; published?: unknown; oldest_age_seconds?: number | null; published_last_minute?: number | null; relays?: readonly unknown[]; owners?: readonly unknown[] })[] }
  }
  getInternalSubscriptionsByIdBacklog: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: { backlog?: number; pending?: number; oldest_age_seconds?: number }
  }
  getOutboxPayloadByExecutionIdByEventId: {
    params: { execution_id: string; event_id: string }
    query: Record<never, never>
    body: undefined
    answer: { execution_id?: string | null; event_id?: string; event_type?: string; node_name?: string; status?: string; timestamp?: string }
  }
  getOverview: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { at?: string; version?: string; mode?: string; ready?: boolean; checks?: readonly ({ name?: string; ok?: boolean; required?: boolean; detail?: string; ms?: number })[]; shards?: readonly ({ shard?: number; label?: string; error?: string | null; backlog?: Record<string, unknown> | null; dead?: number | null; oldest_age_seconds?: number | null; published_last_minute?: number | null; owners?: readonly ({ owner?: string; lanes?: number; live?: boolean; slots?: readonly number[]; lease_seconds?: readonly number[] })[]; relays?: readonly ({ relay_id?: string; lanes?: number; published?: string; started_at?: string; alive?: boolean })[] })[]; drivers?: readonly ({ shard?: number; share?: string; owner?: string; lanes?: number; live?: boolean; slots?: readonly number[]; lease_seconds?: readonly number[] })[]; pools?: readonly ({ name?: string; kind?: string; alive?: boolean; silent_seconds?: number | null; capacity?: number })[]; subscriptions?: Record<string, unknown>; stuck?: readonly ({ execution_id?: string; what?: string })[]; dead_messages?: readonly ({ subscription_id?: string; path?: string | null; count?: number })[]; paused_backlogs?: readonly ({ subscription_id?: string; path?: string; messages?: number })[]; schema?: readonly ({ database?: string; applied?: number; pending?: number })[]; errors?: readonly string[]; me?: { role?: string; actor?: string; read_only?: boolean } }
  }
  getOverviewSeries: {
    params: Record<never, never>
    query: { names?: string; since?: string; step?: number }
    body: undefined
    answer: { scope?: string; step?: number; at?: readonly number[]; columns?: Record<string, unknown> }
  }
  getPoolStatus: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { status?: 'ok' | 'busy' | 'saturated'; pool_min?: number; pool_max?: number; pool_size?: number; pool_available?: number; requests_waiting?: number; utilization?: number; slots_available?: number }
  }
  getReplayDiff: {
    params: Record<never, never>
    query: { execution_id?: string; tenant_id?: string; organization_id?: string; profile?: string; projection?: string; from?: string; to?: string }
    body: undefined
    answer: { equal?: boolean; count?: number; from?: { moment?: string; checksum?: string; event_count?: number; may_change?: boolean }; to?: { moment?: string; checksum?: string; event_count?: number; may_change?: boolean }; differences?: readonly ({ pointer?: string; kind?: string; from?: unknown; to?: unknown })[] }
  }
  getReplayState: {
    params: Record<never, never>
    query: { execution_id?: string; tenant_id?: string; organization_id?: string; profile?: string; as_of_event_id?: string; as_of_position?: string; as_of_version?: string; as_of_time?: string; projection?: string; limit?: number; resolve_payloads?: boolean; ids?: string; from_snapshot?: boolean }
    body: undefined
    answer: { checksum?: string; checksum_algorithm?: string; projection_checksums?: Record<string, unknown>; execution?: unknown }
  }
  getReplayVerifyByExecutionId: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: { execution_id?: string; ok?: boolean; status?: string; event_count?: string; checksum?: string; checks?: readonly ({ check?: string; ok?: boolean; skipped?: boolean; detail?: string; pointer?: string | null })[] }
  }
  getResultResolve: {
    params: Record<never, never>
    query: { ref?: string }
    body: undefined
    answer: unknown
  }
  getRuntimeShardInfo: {
    params: Record<never, never>
    query: { execution_id?: string; shard_count?: number }
    body: undefined
    answer: { execution_id?: string; shard_count?: number; shard_index?: number; source?: string; hash_function?: string; seed?: number; server_config?: { shard_index?: number; shard_count?: number; databases?: number } }
  }
  getSession: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { role?: 'none' | 'viewer' | 'writer' | 'operator'; actor?: string; by?: 'token' | 'session' | 'nothing'; expires_at?: string | null; read_only?: boolean; console?: 'on' | 'read-only' | 'off'; mode?: string; call?: string }
  }
  getSettings: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: { settings?: readonly ({ name?: string; env?: string; group?: string; value?: string | null; default?: string | null; source?: string; from?: string; because?: string | null; is_secret?: boolean; help?: string })[] }
  }
  getSnapshots: {
    params: Record<never, never>
    query: { type?: 'state' | 'replay' | 'all'; execution_id?: string; limit?: number; after?: string }
    body: undefined
    answer: { snapshots?: readonly ({ shard?: number; type?: string; name?: string; version?: string; behind?: string | null; checksum?: string; stored_bytes?: number | null; updated_at?: string; execution_status?: string | null; is_subscription?: boolean; meta?: unknown; snapshot_codec?: string | null; tenant_id?: string; organization_id?: string; created_at?: string; head?: string | null })[]; next_after?: string | null; failed_shards?: readonly number[] }
  }
  getStream: {
    params: Record<never, never>
    query: { topics?: string; last_event_id?: string }
    body: undefined
    answer: unknown
  }
  getSubscriptions: {
    params: Record<never, never>
    query: { state?: string; path?: string; kind?: string; order?: 'oldest' | 'newest'; limit?: number; cursor?: string; verbose?: boolean }
    body: undefined
    answer: { subscriptions?: readonly ({ subscription_id?: string; path?: string; catalog_id?: string; state?: 'REGISTERED' | 'ACTIVE' | 'PAUSED' | 'DRAINING' | 'DEACTIVATED' | 'UNKNOWN'; last_event_type?: string; updated_at?: string })[] }
  }
  getSubscriptionsById: {
    params: { id: string }
    query: { verbose?: boolean }
    body: undefined
    answer: { subscription_id?: string; path?: string; catalog_id?: string; state?: 'REGISTERED' | 'ACTIVE' | 'PAUSED' | 'DRAINING' | 'DEACTIVATED' | 'UNKNOWN'; last_event_type?: string; updated_at?: string }
  }
  getSubscriptionsByIdHistory: {
    params: { id: string }
    query: { order?: 'oldest' | 'newest'; after?: string; before?: string; limit?: number }
    body: undefined
    answer: { subscription_id?: string; events?: readonly ({ event_id?: string; event_type?: string; state?: string | null; catalog_id?: string | null; at?: string; reason?: string | null; actor?: string | null; until?: string | null })[] }
  }
  getSubscriptionsDead: {
    params: Record<never, never>
    query: { subscription_id?: string; after?: string; limit?: number; body?: boolean }
    body: undefined
    answer: { dead_letters?: readonly ({ dead_letter_id?: string; subscription_id?: string; identity?: string; subject?: string | null; bytes?: number; attempts?: number; reason?: string; headers?: unknown; body?: unknown; created_at?: string })[]; has_more?: boolean }
  }
  getVarsByExecutionId: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: Record<string, unknown>
  }
  getVarsByExecutionIdByName: {
    params: { execution_id: string; name: string }
    query: Record<never, never>
    body: undefined
    answer: { name?: string; value?: unknown }
  }
  getWorkerPools: {
    params: Record<never, never>
    query: { kind?: string; status?: string }
    body: undefined
    answer: { items?: readonly ({ runtime_id?: string; name?: string; status?: string })[] }
  }
  postBulk: {
    params: Record<never, never>
    query: Record<never, never>
    body: { action: 'cancel' | 'rerun' | 'resume' | 'finalize'; filter?: Record<string, unknown> | null; ids?: readonly string[] | null; reason?: string | null; dry_run?: boolean | null; limit?: number | null; cascade?: boolean | null; status?: 'COMPLETED' | 'FAILED' | null }
    answer: { matched?: number; concerned?: number; more?: boolean; by_status?: Record<string, unknown>; sample?: readonly ({ execution_id?: string; status?: string })[] }
  }
  postBulkByJobIdStop: {
    params: { job_id: string }
    query: Record<never, never>
    body: undefined
    answer: { job_id?: string; kind?: string; actor?: string; reason?: string | null; state?: 'running' | 'done' | 'stopped' | 'failed'; started_at?: string; ended_at?: string | null; matched?: number | null; done?: number; refused?: number; failed?: number; troubles?: readonly ({ target?: string; outcome?: string; error?: string })[]; error?: string | null; report?: Record<string, unknown> | null; kept?: string }
  }
  postCatalogAgentsList: {
    params: Record<never, never>
    query: Record<never, never>
    body: { limit?: number } | undefined
    answer: { entries?: readonly (Record<string, unknown>)[] }
  }
  postCatalogDelete: {
    params: Record<never, never>
    query: Record<never, never>
    body: { path: string; version?: unknown; reason?: string | null }
    answer: { status?: string; message?: string; path?: string; deleted?: readonly ({ catalog_id?: string; version?: number; archived?: boolean })[]; count?: number }
  }
  postCatalogList: {
    params: Record<never, never>
    query: Record<never, never>
    body: { resource_type?: string | null; path?: string | null; include_archived?: boolean; newest_only?: boolean; limit?: number; include_content?: boolean; cursor?: string | null } | undefined
    answer: { entries?: readonly ({ catalog_id?: string; path?: string; kind?: string; version?: number; content?: string | null; layout?: unknown; payload?: unknown; meta?: unknown; created_at?: string; archived_at?: string | null; versions?: number })[]; next_cursor?: string }
  }
  postCatalogPlaybooksValidate: {
    params: Record<never, never>
    query: Record<never, never>
    body: { content: string }
    answer: { valid?: boolean; errors?: readonly string[]; warnings?: readonly string[] }
  }
  postCatalogRegister: {
    params: Record<never, never>
    query: Record<never, never>
    body: { content: string; resource_type?: string | null; force?: boolean }
    answer: { status?: string; message?: string; path?: string; version?: number; catalog_id?: string; kind?: string; created?: boolean; warnings?: readonly (Record<string, unknown>)[] }
  }
  postCatalogResource: {
    params: Record<never, never>
    query: Record<never, never>
    body: { catalog_id?: string | null; path?: string | null; version?: unknown }
    answer: { catalog_id?: string; path?: string; kind?: string; version?: number; content?: string | null; layout?: unknown; payload?: unknown; meta?: unknown; created_at?: string; archived_at?: string | null }
  }
  postCatalogRestore: {
    params: Record<never, never>
    query: Record<never, never>
    body: { path: string; version?: unknown; reason?: string | null }
    answer: { status?: string; message?: string; path?: string; deleted?: readonly ({ catalog_id?: string; version?: number; archived?: boolean })[]; count?: number }
  }
  postCatalogValidate: {
    params: Record<never, never>
    query: Record<never, never>
    body: { content: string; resource_type?: string | null }
    answer: { valid?: boolean; path?: string | null; kind?: string | null; problems?: readonly ({ pointer?: string; severity?: string; message?: string; line?: number; column?: number })[] }
  }
  postCommandsByEventIdClaim: {
    params: { event_id: string }
    query: Record<never, never>
    body: { worker_id?: string | null; lease_seconds?: number | null }
    answer: { status?: string; event_id?: string; execution_id?: string; node_id?: string; node_name?: string; action?: string; context?: Record<string, unknown>; meta?: Record<string, unknown> }
  }
  postCommandsByEventIdHeartbeat: {
    params: { event_id: string }
    query: Record<never, never>
    body: { worker_id?: string | null; lease_token?: number | null }
    answer: { lease_until?: string | null; cancelled?: boolean }
  }
  postCommandsByEventIdRequeue: {
    params: { event_id: string }
    query: Record<never, never>
    body: { note?: string | null } | undefined
    answer: { event_id?: string; execution_id?: string; command_id?: string | null; step?: string | null; action?: string | null; pool?: string | null; status?: string; priority?: number; attempt?: number; max_attempts?: number; worker_id?: string | null; lease_until?: string | null; deadline?: string | null; created_at?: string | null; claimed_at?: string | null; started_at?: string | null; completed_at?: string | null; error?: string | null }
  }
  postCommandsClaim: {
    params: Record<never, never>
    query: Record<never, never>
    body: { worker_id?: string | null; pools: readonly string[]; kinds?: readonly string[] | null; max?: number | null; wait_seconds?: number | null; lease_seconds?: number | null }
    answer: { commands?: readonly ({ status?: string; event_id?: string; execution_id?: string; node_id?: string; node_name?: string; action?: string; context?: Record<string, unknown>; meta?: Record<string, unknown> })[] }
  }
  postCredentials: {
    params: Record<never, never>
    query: Record<never, never>
    body: { name: string; type: string; data: Record<string, unknown>; meta?: Record<string, unknown> | null; tags?: readonly string[] | null; description?: string | null }
    answer: { id?: string; name?: string; type?: string; data?: Record<string, unknown> | null }
  }
  postDaemonConsoleSession: {
    params: Record<never, never>
    query: Record<never, never>
    body: { code?: string; token?: string; actor?: string }
    answer: { role?: 'none' | 'viewer' | 'writer' | 'operator'; actor?: string; by?: 'token' | 'session' | 'nothing'; expires_at?: string | null; read_only?: boolean; console?: 'on' | 'read-only' | 'off'; mode?: string; call?: string }
  }
  postDaemonIngressByListener: {
    params: { listener: string }
    query: Record<never, never>
    body: undefined
    answer: { status?: string; execution_id?: string }
  }
  postEvents: {
    params: Record<never, never>
    query: Record<never, never>
    body: { execution_id: string; step?: string | null; event_type?: string; name?: string; payload?: unknown; meta?: Record<string, unknown> | null; worker_id?: string | null; result_kind?: 'data' | 'ref' | 'refs'; result_uri?: string | null; event_ids?: readonly unknown[] | null; actionable?: boolean; informative?: boolean; event_id?: string | null; status?: string | null; created_at?: string | null; catalog_id?: string | null; path?: string | null }
    answer: { status?: string; event_id?: string; commands_generated?: number; stream_version?: string; reason?: string; event_ids?: readonly string[]; duplicate?: boolean; idempotency_key?: string }
  }
  postEventsBatch: {
    params: Record<never, never>
    query: Record<never, never>
    body: { execution_id: string; worker_id?: string | null; events: readonly ({ step?: string | null; event_type?: string; name?: string; payload?: unknown; meta?: Record<string, unknown> | null; worker_id?: string | null; result_kind?: 'data' | 'ref' | 'refs'; result_uri?: string | null; event_ids?: readonly unknown[] | null; actionable?: boolean; informative?: boolean; event_id?: string | null; status?: string | null; created_at?: string | null; catalog_id?: string | null; path?: string | null })[] }
    answer: { status?: 'ok' | 'partial'; commands_generated?: number; results?: readonly ({ event_id?: string })[]; event_ids?: readonly string[]; duplicate?: boolean; idempotency_key?: string }
  }
  postExecute: {
    params: Record<never, never>
    query: Record<never, never>
    body: { path?: string | null; catalog_id?: string | null; version?: unknown; payload?: Record<string, unknown> | null; workload?: Record<string, unknown> | null; parent_execution_id?: string | null; execution_pool?: string | null; priority?: number | null; trace?: unknown; dedup?: { key: string; window_secs?: number } | null; timeout_seconds?: number | null; driven?: boolean | null; children_map?: Record<string, unknown> | null; labels?: Record<string, unknown> | null; tenant_id?: string | null; organization_id?: string | null }
    answer: { execution_id?: string; status?: 'started' | 'duplicate'; commands_generated?: number }
  }
  postExecuteBatch: {
    params: Record<never, never>
    query: Record<never, never>
    body: { executions: readonly unknown[] }
    answer: { count?: number; started?: number; duplicates?: number; failed?: number; results?: readonly ({ index?: number; status?: 'started' | 'duplicate' | 'error'; execution_id?: string; commands_generated?: number; error?: string; problems?: readonly unknown[] })[] }
  }
  postExecutionsByExecutionIdAdopt: {
    params: { execution_id: string }
    query: Record<never, never>
    body: { reason?: string | null } | undefined
    answer: { execution_id?: string; status?: 'adopted' | 'driven'; event_id?: string | null }
  }
  postExecutionsByExecutionIdAnalyze: {
    params: { execution_id: string }
    query: Record<never, never>
    body: Record<string, unknown> | undefined
    answer: { execution_id?: string; path?: string | null; status?: string; generated_at?: string; summary?: Record<string, unknown>; findings?: readonly ({ reason?: string; message?: string; seconds?: number | null; recommendation?: string })[]; recommendations?: readonly string[]; cloud?: Record<string, unknown>; playbook?: Record<string, unknown>; event_sample?: readonly ({ execution_id?: string | null; event_id?: string | null; event_type?: string | null; node_id?: string | null; node_name?: string | null; status?: string | null; created_at?: string | null; timestamp?: string | null; context?: unknown; result?: unknown; error?: string | null; catalog_id?: string | null; parent_execution_id?: string | null; parent_event_id?: string | null; duration?: number | null })[]; ai_prompt?: string }
  }
  postExecutionsByExecutionIdCancel: {
    params: { execution_id: string }
    query: Record<never, never>
    body: { reason?: string | null; cascade?: boolean } | undefined
    answer: { execution_id?: string; status?: string; message?: string; cancelled_executions?: readonly string[]; cancelled_children?: readonly string[] }
  }
  postExecutionsByExecutionIdFinalize: {
    params: { execution_id: string }
    query: Record<never, never>
    body: { status: string; error?: string | null; reason?: string | null }
    answer: { execution_id?: string; status?: string; event_id?: string; message?: string }
  }
  postExecutionsByExecutionIdRerun: {
    params: { execution_id: string }
    query: Record<never, never>
    body: { workload?: Record<string, unknown> | null; set?: Record<string, unknown> | null; reason?: string | null } | undefined
    answer: { execution_id?: string; status?: 'started' | 'duplicate'; commands_generated?: number }
  }
  postExecutionsByExecutionIdResume: {
    params: { execution_id: string }
    query: Record<never, never>
    body: { latest?: boolean } | undefined
    answer: { execution_id?: string; resumed_from?: string; status?: string; steps_again?: readonly string[]; events_kept?: number }
  }
  postExecutionsByExecutionIdStop: {
    params: { execution_id: string }
    query: Record<never, never>
    body: { reason?: string | null; cascade?: boolean } | undefined
    answer: { execution_id?: string; status?: string; message?: string; cancelled_executions?: readonly string[]; cancelled_children?: readonly string[] }
  }
  postExecutionsCleanup: {
    params: Record<never, never>
    query: Record<never, never>
    body: { older_than_minutes?: number; dry_run?: boolean } | undefined
    answer: { cancelled_count?: number; execution_ids?: readonly string[]; message?: string }
  }
  postInternalCleanupPurge: {
    params: Record<never, never>
    query: Record<never, never>
    body: { command_retention_days?: number; runtime_stale_minutes?: number; event_retention_days?: number } | undefined
    answer: { commands_purged?: number; runtime_purged?: number; events_purged?: number; event_partitions_dropped?: readonly string[]; failures?: readonly unknown[] }
  }
  postInternalConsoleCode: {
    params: Record<never, never>
    query: Record<never, never>
    body: { actor?: string } | undefined
    answer: { code?: string; expires_in_seconds?: number; path?: string }
  }
  postInternalContainerCallbackByExecutionIdByStep: {
    params: { execution_id: string; step: string }
    query: Record<never, never>
    body: { state: 'succeeded' | 'failed' | 'failed_image_pull' | 'failed_oom' | 'failed_node_lost' | 'failed_timeout'; job_name?: string | null; message?: string | null; command_id?: string | null }
    answer: { status?: string; command_id?: string; reason?: string }
  }
  postInternalEventsProject: {
    params: Record<never, never>
    query: Record<never, never>
    body: { events: readonly unknown[] }
    answer: { projected?: number; duplicates?: number; quarantined?: number }
  }
  postInternalOutboxAudit: {
    params: Record<never, never>
    query: Record<never, never>
    body: { since?: string | null; republish?: boolean | null; limit?: number | null; note?: string | null } | undefined
    answer: { job_id?: string; kind?: string; actor?: string; reason?: string | null; state?: 'running' | 'done' | 'stopped' | 'failed'; started_at?: string; ended_at?: string | null; matched?: number | null; done?: number; refused?: number; failed?: number; troubles?: readonly ({ target?: string; outcome?: string; error?: string })[]; error?: string | null; report?: Record<string, unknown> | null; kept?: string }
  }
  postInternalOutboxClaim: {
    params: Record<never, never>
    query: Record<never, never>
    body: { limit?: number; shard?: number } | undefined
    answer: { rows?: readonly unknown[]; claimed?: number }
  }
  postInternalOutboxMarkFailed: {
    params: Record<never, never>
    query: Record<never, never>
    body: { outbox_id: string; error: string; attempts?: number; max_delay_seconds?: number; lease_token?: string | null; shard?: number }
    answer: { marked?: boolean; available_at_in?: number }
  }
  postInternalOutboxMarkPublished: {
    params: Record<never, never>
    query: Record<never, never>
    body: { outbox_ids: readonly string[]; lease_tokens?: readonly string[]; stream_seqs?: readonly string[]; shard?: number }
    answer: { marked?: number; not_marked?: readonly unknown[] }
  }
  postInternalOutboxRedrive: {
    params: Record<never, never>
    query: Record<never, never>
    body: { ids?: readonly string[]; execution_id?: string | null; shard?: number; limit?: number; note?: string | null; reason?: string | null; since?: string | null; dry_run?: boolean; as_job?: boolean }
    answer: { dry_run?: boolean; matched?: number; done?: number; more?: boolean; sample?: readonly ({ shard?: number; outbox_id?: string; execution_id?: string | null; event_id?: string; subject?: string | null; status?: string; attempts?: number; last_error?: string | null; stream_seq?: string | null; bytes?: number; lease_owner?: string | null; available_at?: string | null; created_at?: string | null; published_at?: string | null; updated_at?: string | null; lease_until?: string | null })[] }
  }
  postInternalOutboxRetry: {
    params: Record<never, never>
    query: Record<never, never>
    body: { ids?: readonly string[]; execution_id?: string | null; shard?: number; limit?: number; note?: string | null }
    answer: { done?: number }
  }
  postInternalProjectionAdvance: {
    params: Record<never, never>
    query: Record<never, never>
    body: { execution_ids: readonly string[] }
    answer: { advanced?: readonly unknown[]; failed?: readonly unknown[] }
  }
  postInternalSnapshotsByExecutionIdRebuild: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: { version?: number }
  }
  postInternalSnapshotsByExecutionIdTake: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: { aggregate_id?: string; version?: string; event_count?: string; events_read?: number; checksum?: string; continued?: string; state_bytes?: number; stored_bytes?: number; stored?: boolean }
  }
  postInternalSnapshotsByExecutionIdVerify: {
    params: { execution_id: string }
    query: Record<never, never>
    body: undefined
    answer: { found?: boolean; ok?: boolean; version?: string; head?: string; problem?: string | null; detail?: string }
  }
  postInternalSnapshotsPrune: {
    params: Record<never, never>
    query: Record<never, never>
    body: { reason: string; dry_run?: boolean }
    answer: { dry_run?: boolean; matched?: number; decision_keys?: number; sample?: readonly ({ execution_id?: string; execution_status?: string | null; updated_at?: string })[]; failed_shards?: readonly number[] }
  }
  postPlaybooksValidate: {
    params: Record<never, never>
    query: Record<never, never>
    body: { content: string; resource_type?: string | null }
    answer: { valid?: boolean; path?: string | null; kind?: string | null; problems?: readonly ({ pointer?: string; severity?: string; message?: string; line?: number; column?: number })[] }
  }
  postPostgresExecute: {
    params: Record<never, never>
    query: Record<never, never>
    body: { query: string; parameters?: readonly unknown[] | null }
    answer: { status?: string; command?: string; row_count?: number; result?: readonly (Record<string, unknown>)[] }
  }
  postReplayVerify: {
    params: Record<never, never>
    query: Record<never, never>
    body: { since?: string | null; limit?: number | null } | undefined
    answer: { job_id?: string; kind?: string; actor?: string; reason?: string | null; state?: 'running' | 'done' | 'stopped' | 'failed'; started_at?: string; ended_at?: string | null; matched?: number | null; done?: number; refused?: number; failed?: number; troubles?: readonly ({ target?: string; outcome?: string; error?: string })[]; error?: string | null; report?: Record<string, unknown> | null; kept?: string }
  }
  postSubscriptions: {
    params: Record<never, never>
    query: Record<never, never>
    body: { path: string; reason?: string | null; actor?: string | null }
    answer: { subscription_id?: string; path?: string; catalog_id?: string; state?: 'REGISTERED' | 'ACTIVE' | 'PAUSED' | 'DRAINING' | 'DEACTIVATED' | 'UNKNOWN'; last_event_type?: string; updated_at?: string }
  }
  postSubscriptionsByIdByAction: {
    params: { id: string; action: string }
    query: Record<never, never>
    body: { reason?: string | null; actor?: string | null; until?: string | null } | undefined
    answer: { subscription_id?: string; path?: string; catalog_id?: string; state?: 'REGISTERED' | 'ACTIVE' | 'PAUSED' | 'DRAINING' | 'DEACTIVATED' | 'UNKNOWN'; last_event_type?: string; updated_at?: string }
  }
  postSubscriptionsDeadRedrive: {
    params: Record<never, never>
    query: Record<never, never>
    body: { ids: readonly string[]; reason?: string | null }
    answer: { results?: readonly ({ id?: string; outcome?: string; execution_id?: string | null; reason?: string | null })[] }
  }
  postSubscriptionsRegister: {
    params: Record<never, never>
    query: Record<never, never>
    body: { path: string; reason?: string | null; actor?: string | null }
    answer: { subscription_id?: string; path?: string; catalog_id?: string; state?: 'REGISTERED' | 'ACTIVE' | 'PAUSED' | 'DRAINING' | 'DEACTIVATED' | 'UNKNOWN'; last_event_type?: string; updated_at?: string }
  }
  postVarsByExecutionId: {
    params: { execution_id: string }
    query: Record<never, never>
    body: Record<string, unknown>
    answer: { status?: string; execution_id?: string; count?: number }
  }
  postWorkerPoolDeregister: {
    params: Record<never, never>
    query: Record<never, never>
    body: { name: string; kind?: string | null; component_type?: string | null }
    answer: { status?: string; message?: string }
  }
  postWorkerPoolHeartbeat: {
    params: Record<never, never>
    query: Record<never, never>
    body: { name: string; kind?: string | null; component_type?: string | null; commands?: readonly string[] | null }
    answer: { status?: string; message?: string }
  }
  postWorkerPoolRegister: {
    params: Record<never, never>
    query: Record<never, never>
    body: { name: string; kind?: string | null; component_type?: string | null; uri?: string | null; status?: string | null; capacity?: number | null; labels?: Record<string, unknown> | null; runtime?: Record<string, unknown> | null }
    answer: { runtime_id?: string; name?: string; status?: string }
  }
  putCatalogPlaybookContent: {
    params: Record<never, never>
    query: { playbook_id?: string }
    body: { content: string }
    answer: { status?: string; message?: string; path?: string; version?: number; catalog_id?: string; kind?: string; created?: boolean; warnings?: readonly (Record<string, unknown>)[] }
  }
  putResultByExecutionId: {
    params: { execution_id: string }
    query: Record<never, never>
    body: { name: string; data: unknown; scope?: string | null; source_step?: string | null; ttl_seconds?: number | null }
    answer: { ref?: string; store?: string; scope?: string; bytes?: number; sha256?: string; expires_at?: string | null }
  }
}

export const OPERATIONS: Readonly<Record<keyof Operations, readonly [method: string, path: string]>> = {
  deleteCredentialsByName: ['DELETE', '/api/credentials/{name}'],
  deleteDaemonConsoleSession: ['DELETE', '/console/session'],
  deleteVarsByExecutionIdByName: ['DELETE', '/api/vars/{execution_id}/{name}'],
  deleteWorkerPoolDeregister: ['DELETE', '/api/worker/pool/deregister'],
  getActivity: ['GET', '/api/activity'],
  getBulk: ['GET', '/api/bulk'],
  getBulkByJobId: ['GET', '/api/bulk/{job_id}'],
  getCatalogByPathUiSchema: ['GET', '/api/catalog/{path}/ui_schema'],
  getCatalogPlaybookContent: ['GET', '/api/catalog/playbook/content'],
  getCatalogUsedBy: ['GET', '/api/catalog/used_by'],
  getCommands: ['GET', '/api/commands'],
  getCommandsByEventId: ['GET', '/api/commands/{event_id}'],
  getCredentials: ['GET', '/api/credentials'],
  getCredentialsByName: ['GET', '/api/credentials/{name}'],
  getDaemonHealth: ['GET', '/health'],
  getDaemonHealthz: ['GET', '/healthz'],
  getDaemonLivez: ['GET', '/livez'],
  getDaemonMetrics: ['GET', '/metrics'],
  getDaemonReadyz: ['GET', '/readyz'],
  getDashboardStats: ['GET', '/api/dashboard/stats'],
  getDbValidate: ['GET', '/api/db/validate'],
  getDoctor: ['GET', '/api/doctor'],
  getExecutions: ['GET', '/api/executions'],
  getExecutionsByExecutionId: ['GET', '/api/executions/{execution_id}'],
  getExecutionsByExecutionIdAt: ['GET', '/api/executions/{execution_id}/at'],
  getExecutionsByExecutionIdCancellationCheck: ['GET', '/api/executions/{execution_id}/cancellation-check'],
  getExecutionsByExecutionIdChecksum: ['GET', '/api/executions/{execution_id}/checksum'],
  getExecutionsByExecutionIdEvents: ['GET', '/api/executions/{execution_id}/events'],
  getExecutionsByExecutionIdEventsByEventId: ['GET', '/api/executions/{execution_id}/events/{event_id}'],
  getExecutionsByExecutionIdEventsStream: ['GET', '/api/executions/{execution_id}/events/stream'],
  getExecutionsByExecutionIdOrigin: ['GET', '/api/executions/{execution_id}/origin'],
  getExecutionsByExecutionIdResult: ['GET', '/api/executions/{execution_id}/result'],
  getExecutionsByExecutionIdState: ['GET', '/api/executions/{execution_id}/state'],
  getExecutionsByExecutionIdStatus: ['GET', '/api/executions/{execution_id}/status'],
  getExecutionsByExecutionIdTape: ['GET', '/api/executions/{execution_id}/tape'],
  getExecutionsByExecutionIdWhyStuck: ['GET', '/api/executions/{execution_id}/why-stuck'],
  getExecutionsHistogram: ['GET', '/api/executions/histogram'],
  getExecutionsTimelines: ['GET', '/api/executions/timelines'],
  getHealth: ['GET', '/api/health'],
  getInternalIngressByListener: ['GET', '/api/internal/ingress/{listener}'],
  getInternalOutboxDead: ['GET', '/api/internal/outbox/dead'],
  getInternalOutboxDeadGroups: ['GET', '/api/internal/outbox/dead/groups'],
  getInternalOutboxPendingCount: ['GET', '/api/internal/outbox/pending-count'],
  getInternalOutboxRows: ['GET', '/api/internal/outbox/rows'],
  getInternalOutboxRowsByOutboxId: ['GET', '/api/internal/outbox/rows/{outbox_id}'],
  getInternalOutboxStatus: ['GET', '/api/internal/outbox/status'],
  getInternalSubscriptionsByIdBacklog: ['GET', '/api/internal/subscriptions/{id}/backlog'],
  getOutboxPayloadByExecutionIdByEventId: ['GET', '/api/outbox/payload/{execution_id}/{event_id}'],
  getOverview: ['GET', '/api/overview'],
  getOverviewSeries: ['GET', '/api/overview/series'],
  getPoolStatus: ['GET', '/api/pool/status'],
  getReplayDiff: ['GET', '/api/replay/diff'],
  getReplayState: ['GET', '/api/replay/state'],
  getReplayVerifyByExecutionId: ['GET', '/api/replay/verify/{execution_id}'],
  getResultResolve: ['GET', '/api/result/resolve'],
  getRuntimeShardInfo: ['GET', '/api/runtime/shard-info'],
  getSession: ['GET', '/api/session'],
  getSettings: ['GET', '/api/settings'],
  getSnapshots: ['GET', '/api/snapshots'],
  getStream: ['GET', '/api/stream'],
  getSubscriptions: ['GET', '/api/subscriptions'],
  getSubscriptionsById: ['GET', '/api/subscriptions/{id}'],
  getSubscriptionsByIdHistory: ['GET', '/api/subscriptions/{id}/history'],
  getSubscriptionsDead: ['GET', '/api/subscriptions/dead'],
  getVarsByExecutionId: ['GET', '/api/vars/{execution_id}'],
  getVarsByExecutionIdByName: ['GET', '/api/vars/{execution_id}/{name}'],
  getWorkerPools: ['GET', '/api/worker/pools'],
  postBulk: ['POST', '/api/bulk'],
  postBulkByJobIdStop: ['POST', '/api/bulk/{job_id}/stop'],
  postCatalogAgentsList: ['POST', '/api/catalog/agents/list'],
  postCatalogDelete: ['POST', '/api/catalog/delete'],
  postCatalogList: ['POST', '/api/catalog/list'],
  postCatalogPlaybooksValidate: ['POST', '/api/catalog/playbooks/validate'],
  postCatalogRegister: ['POST', '/api/catalog/register'],
  postCatalogResource: ['POST', '/api/catalog/resource'],
  postCatalogRestore: ['POST', '/api/catalog/restore'],
  postCatalogValidate: ['POST', '/api/catalog/validate'],
  postCommandsByEventIdClaim: ['POST', '/api/commands/{event_id}/claim'],
  postCommandsByEventIdHeartbeat: ['POST', '/api/commands/{event_id}/heartbeat'],
  postCommandsByEventIdRequeue: ['POST', '/api/commands/{event_id}/requeue'],
  postCommandsClaim: ['POST', '/api/commands/claim'],
  postCredentials: ['POST', '/api/credentials'],
  postDaemonConsoleSession: ['POST', '/console/session'],
  postDaemonIngressByListener: ['POST', '/ingress/{listener}'],
  postEvents: ['POST', '/api/events'],
  postEventsBatch: ['POST', '/api/events/batch'],
  postExecute: ['POST', '/api/execute'],
  postExecuteBatch: ['POST', '/api/execute/batch'],
  postExecutionsByExecutionIdAdopt: ['POST', '/api/executions/{execution_id}/adopt'],
  postExecutionsByExecutionIdAnalyze: ['POST', '/api/executions/{execution_id}/analyze'],
  postExecutionsByExecutionIdCancel: ['POST', '/api/executions/{execution_id}/cancel'],
  postExecutionsByExecutionIdFinalize: ['POST', '/api/executions/{execution_id}/finalize'],
  postExecutionsByExecutionIdRerun: ['POST', '/api/executions/{execution_id}/rerun'],
  postExecutionsByExecutionIdResume: ['POST', '/api/executions/{execution_id}/resume'],
  postExecutionsByExecutionIdStop: ['POST', '/api/executions/{execution_id}/stop'],
  postExecutionsCleanup: ['POST', '/api/executions/cleanup'],
  postInternalCleanupPurge: ['POST', '/api/internal/cleanup/purge'],
  postInternalConsoleCode: ['POST', '/api/internal/console/code'],
  postInternalContainerCallbackByExecutionIdByStep: ['POST', '/api/internal/container-callback/{execution_id}/{step}'],
  postInternalEventsProject: ['POST', '/api/internal/events/project'],
  postInternalOutboxAudit: ['POST', '/api/internal/outbox/audit'],
  postInternalOutboxClaim: ['POST', '/api/internal/outbox/claim'],
  postInternalOutboxMarkFailed: ['POST', '/api/internal/outbox/mark-failed'],
  postInternalOutboxMarkPublished: ['POST', '/api/internal/outbox/mark-published'],
  postInternalOutboxRedrive: ['POST', '/api/internal/outbox/redrive'],
  postInternalOutboxRetry: ['POST', '/api/internal/outbox/retry'],
  postInternalProjectionAdvance: ['POST', '/api/internal/projection/advance'],
  postInternalSnapshotsByExecutionIdRebuild: ['POST', '/api/internal/snapshots/{execution_id}/rebuild'],
  postInternalSnapshotsByExecutionIdTake: ['POST', '/api/internal/snapshots/{execution_id}/take'],
  postInternalSnapshotsByExecutionIdVerify: ['POST', '/api/internal/snapshots/{execution_id}/verify'],
  postInternalSnapshotsPrune: ['POST', '/api/internal/snapshots/prune'],
  postPlaybooksValidate: ['POST', '/api/playbooks/validate'],
  postPostgresExecute: ['POST', '/api/postgres/execute'],
  postReplayVerify: ['POST', '/api/replay/verify'],
  postSubscriptions: ['POST', '/api/subscriptions'],
  postSubscriptionsByIdByAction: ['POST', '/api/subscriptions/{id}/{action}'],
  postSubscriptionsDeadRedrive: ['POST', '/api/subscriptions/dead/redrive'],
  postSubscriptionsRegister: ['POST', '/api/subscriptions/register'],
  postVarsByExecutionId: ['POST', '/api/vars/{execution_id}'],
  postWorkerPoolDeregister: ['POST', '/api/worker/pool/deregister'],
  postWorkerPoolHeartbeat: ['POST', '/api/worker/pool/heartbeat'],
  postWorkerPoolRegister: ['POST', '/api/worker/pool/register'],
  putCatalogPlaybookContent: ['PUT', '/api/catalog/playbook/content'],
  putResultByExecutionId: ['PUT', '/api/result/{execution_id}'],
}
