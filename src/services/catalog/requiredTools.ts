// `executor.requires.tools`: kinds that a playbook cannot do without. It is not started while no living pool of workers offers
// them; a pool that does not say what it offers may offer anything.
import type { Databases } from '../../db/databases.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { CatalogEntry } from '../../stores/catalog/catalogStore.js'
import { listPools } from '../../stores/workers/workerPoolStore.js'
import type { CatalogDocuments } from './catalogDocuments.js'

const POOL_SECONDS_MAX = 60
/** The engine itself runs them. */
const OWN_KINDS: ReadonlySet<string> = new Set(['noop', 'playbook', 'playbooks', 'workbook', 'task_sequence'])

export async function assertToolsOffered(
  { databases, documents }: { databases: Databases; documents: Pick<CatalogDocuments, 'ofEntry'> },
  entry: CatalogEntry,
): Promise<void> {
  // Most say nothing, and their document need not be looked at.
  if (entry.kind.toLowerCase() !== 'playbook' || entry.content?.includes('requires') !== true) return
  const wanted = requiredTools((await documents.ofEntry(entry)).value()).filter((kind) => !OWN_KINDS.has(kind))
  if (wanted.length === 0) return
  const offered = new Set<string>()
  for (const { capabilities, silent_seconds: silent } of await listPools(databases.cluster.db, undefined, 'ready')) {
    if (silent > POOL_SECONDS_MAX) continue
    const tools = isJsonObject(capabilities) ? capabilities['tools'] : undefined
    if (!Array.isArray(tools)) return
    for (const kind of textsOf(tools)) offered.add(kind)
  }
  const missing = wanted.filter((kind) => !offered.has(kind))
  if (missing.length === 0) return
  const message = `no pool of workers offers ${missing.join(', ')}; see "noetl-cp worker list"`
  const problems = [{ pointer: '/executor/requires/tools', severity: 'error', message }]
  throw new CpError('refused', `the playbook ${entry.path} cannot run: ${message}`, { details: { problems } })
}

function requiredTools({ executor }: JsonObject): string[] {
  const requires = isJsonObject(executor) ? executor['requires'] : undefined
  return isJsonObject(requires) ? textsOf(requires['tools']) : []
}

function textsOf(list: JsonValue | undefined): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}
