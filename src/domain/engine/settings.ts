// What an installation may set about the engine, and the version of its rules.

/** Goes up when the same plan and state would be decided differently; an execution is driven by one version only. */
export const ENGINE_VERSION = 1

export interface EngineSettings {
  /** Commands of a parallel loop at a time, if the loop does not say. */
  readonly loopInFlight: number
  /** Visits of one step; more of them end the execution, which runs in circles. */
  readonly maxVisits: number
  /** `reference`: a tool that failed inside a completed command counts as a success, as in the NoETL server. */
  readonly toolErrors: 'strict' | 'reference'
  /** Run `noop` in the engine; otherwise it is a command like any other. */
  readonly nativeNoop: boolean
  /** Every command carries the whole context. */
  readonly fullContext: boolean
  /** What templates may read of the environment. */
  readonly env: Readonly<Record<string, string>>
}

export const ENGINE_DEFAULTS: EngineSettings = {
  loopInFlight: 200,
  maxVisits: 10_000,
  toolErrors: 'strict',
  nativeNoop: true,
  fullContext: false,
  env: {},
}

/** Visits of one decision that end as soon as they begin: skipped, native, empty loops. */
export const QUICK_VISITS_MAX = 100
export const COMMAND_ATTEMPTS_MAX = 3
/** How long a completed command may wait for the call.done with its data. */
export const MISSING_DATA_MS = 2_000
