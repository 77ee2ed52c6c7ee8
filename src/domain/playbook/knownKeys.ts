// The words of the language by place. Anything else is kept and warned about: playbooks carry keys of other tools, and a
// key that is only misspelt should be seen.

import type { Reader } from '../catalog/violation.js'
import { escapeSegment } from '../json/pointer.js'
import { isJsonObject } from '../json/value.js'
import type { PlanSite } from './site.js'

export const KNOWN_KINDS: ReadonlySet<string> = words(
  'http postgres duckdb ducklake python workbook playbook playbooks secrets iterator container script snowflake transfer',
  'snowflake_transfer gcs gateway nats shell artifact noop task_sequence rhai subscription wasm agent mcp provider',
  'result_fetch',
)

export const TOP_KEYS = words('apiVersion kind metadata workload vars keychain workbook executor workflow')
export const STEP_KEYS = words('step desc tool when input args set vars loop next spec output case')
export const STEP_SPEC_KEYS = words('next_mode timeout on_error policy')
export const STEP_POLICY_KEYS = words('admit failure lifecycle emit')
export const ADMIT_KEYS = words('mode rules')
export const FAILURE_KEYS = words('mode')
export const OUTPUT_KEYS = words('select output_select store inline_max_bytes')
export const ROUTER_KEYS = words('spec arcs')
export const ROUTER_SPEC_KEYS = words('mode on_no_match policy')
export const ARC_KEYS = words('step when set args desc')
export const LOOP_KEYS = words('in iterator spec cursor')
export const LOOP_SPEC_KEYS = words('mode max_in_flight policy frame')
export const LOOP_POLICY_KEYS = words('exec')
export const CURSOR_KEYS = words('kind auth credential claim options')
export const FRAME_KEYS = words(
  'max_rows row_concurrency max_seconds lease_seconds heartbeat_seconds process max_attempts max_bytes',
)
export const POLICY_KEYS = words('mode on_unmatched rules')
export const RULE_KEYS = words('when then else')
export const THEN_KEYS = words('do attempts backoff delay max_delay to set then target set_vars expr else')
export const RETRY_KEYS = words(
  'max_attempts attempts initial_delay delay backoff_seconds backoff_multiplier backoff max_delay jitter',
  'retry_when when stop_when retry_on retry_on_status',
)
export const EXECUTOR_KEYS = words('profile version requires spec')
export const EXECUTOR_SPEC_KEYS = words('entry_step final_step no_next_is_error policy timeout')
export const EXECUTOR_POLICY_KEYS = words('failure lifecycle emit')
export const WORKBOOK_KEYS = words('name desc tool input args sink assert')

const COMMON_TOOL_KEYS = words(
  'kind name desc auth credential input args libs deps params headers timeout timeout_seconds retry eval spec',
  'output_select output set vars',
)

const TOOL_SPEC_KEYS = words('timeout policy')
const TOOL_TIMEOUT_KEYS = words('connect read')

/** Kinds whose fields are all known; others are not looked into. */
const TOOL_KEYS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['noop', words('message result')],
  ['http', words('url endpoint method json body payload data form follow_redirects verify_ssl response_type')],
  ['python', words('code script env python cwd')],
  ['shell', words('command cmd cmds shell cwd env exports')],
  [
    'postgres',
    words(
      'query command commands script connection schema as_objects pool autocommit numeric',
      'db_host db_port db_user db_password db_name host port user password database sslmode',
    ),
  ],
  ['duckdb', words('database query command commands script')],
  ['nats', words('operation subject payload bucket key value stream')],
  ['transfer', words('source target mode mapping chunk_size')],
  ['artifact', words('action uri path format data')],
  ['playbook', words('path catalog_id version payload return_step return_result result_step wait poll_interval')],
])

export function warnUnknownKeys(reader: Reader | undefined, known: ReadonlySet<string>, site: PlanSite): void {
  if (reader === undefined) return
  for (const key of Object.keys(reader.raw())) {
    if (!known.has(key)) warnOf(reader, key, nearestOf(known, key), site)
  }
}

export function warnUnknownToolKeys(kind: string, tool: Reader, site: PlanSite): void {
  const own = TOOL_KEYS.get(kind)
  if (own !== undefined) warnUnknownKeys(tool, new Set([...COMMON_TOOL_KEYS, ...own]), site)
  const spec = mapIn(tool, 'spec', site)
  if (spec === undefined) return
  if (own === undefined) warnMisspelt(spec, TOOL_SPEC_KEYS, site)
  else warnUnknownKeys(spec, TOOL_SPEC_KEYS, site)
  warnUnknownKeys(mapIn(spec, 'timeout', site), TOOL_TIMEOUT_KEYS, site)
}

/** Of a map that may hold more than is known here: only what looks like a known key. */
function warnMisspelt(reader: Reader, known: ReadonlySet<string>, site: PlanSite): void {
  for (const key of Object.keys(reader.raw())) {
    const nearest = known.has(key) ? undefined : nearestOf(known, key)
    if (nearest !== undefined) warnOf(reader, key, nearest, site)
  }
}

/** Where something else may stand as well. */
function mapIn(reader: Reader, key: string, site: PlanSite): Reader | undefined {
  const value = reader.value(key)
  return isJsonObject(value) ? site.reader(value, `${reader.path}/${key}`) : undefined
}

function nearestOf(known: ReadonlySet<string>, key: string): string | undefined {
  return [...known].find((one) => isNear(one, key))
}

function warnOf(reader: Reader, key: string, nearest: string | undefined, site: PlanSite): void {
  const hint = nearest === undefined ? '' : `; do you mean ${nearest}?`
  site.problems.warn(`${reader.path}/${escapeSegment(key)}`, `${JSON.stringify(key)} is not a known key here${hint}`)
}

function words(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(' '))
}

/** One letter wrong, missing or too many. */
function isNear(known: string, written: string): boolean {
  if (Math.abs(known.length - written.length) > 1 || known.length < 3) return false
  let start = 0
  while (start < known.length && known[start] === written[start]) start++
  let end = 0
  while (end < Math.min(known.length, written.length) - start && known.at(-1 - end) === written.at(-1 - end)) end++
  return Math.max(known.length, written.length) - start - end <= 1
}
