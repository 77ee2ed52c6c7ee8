// Runs a subcommand that writes: with ids under a leased machine id, given back at the end.
import { buildCore, type Core } from '../daemon/core.js'
import type { Deps } from '../daemon/deps.js'
import type { OwnSources } from '../domain/subscriptions/ownSources.js'
import type { CatalogDocuments } from '../services/catalog/catalogDocuments.js'
import type { ExecutionsDeps } from '../services/executions/executions.js'
import { createHints } from '../services/state/hints.js'
import type { CommandContext } from './command.js'

const STOP_DEADLINE_MS = 2_000

export type Writing = ExecutionsDeps & { documents: CatalogDocuments; own: OwnSources; core: Core; deps: Deps }

export async function withCore<T>(context: CommandContext, work: (writing: Writing) => Promise<T>): Promise<T> {
  const deps = await context.deps()
  const core = buildCore(deps, 'oneShot')
  // Whoever drives an execution learns of it now, not when its reconciler comes by.
  const hints = createHints({
    databases: deps.databases,
    onError: (err) => deps.log.debug({ err }, 'no hint was sent; the reconciler of the driver finds the news'),
  })
  if (deps.config.stateNotify) {
    core.appender.onAppended((shard, executionIds) => {
      for (const id of executionIds) hints.add(shard, id)
    })
  }
  await core.ids.start()
  try {
    const { databases, documents, clock, large } = deps
    const { appender, ids, own, engine } = core
    return await work({ databases, documents, clock, large, appender, ids, own, engine, core, deps })
  } finally {
    await hints.flush()
    await core.ids.stop(STOP_DEADLINE_MS)
  }
}
