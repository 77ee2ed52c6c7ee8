// The names that templates begin with, besides steps, keys of ctx and of the workload: written here once for those who warn of
// unknown names, for those who render before a run and for the engine.

/** There from the start, and never change. */
export const START_ROOTS: ReadonlySet<string> = new Set([
  ...['workload', 'ctx', 'execution_id', 'catalog_id', 'parent_execution_id', 'job'],
  ...['path', 'version', 'playbook', 'env'],
])

/** Mean the same everywhere in a playbook: no step and no key can take such a name. */
export const RESERVED_ROOTS: ReadonlySet<string> = new Set([
  ...START_ROOTS,
  ...['vars', 'steps', 'iter', 'output', 'event', 'trace'],
])

/** With those that only some places have: elsewhere a step or a key may have the name. */
export const KNOWN_ROOTS: ReadonlySet<string> = new Set([
  ...RESERVED_ROOTS,
  ...['loop', 'loop_index', 'loop_results', '_index', '_total', 'result', 'results', 'error', 'input', 'args', '_prev'],
  ...['keychain', '__frame_max_rows'],
])
