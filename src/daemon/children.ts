// Playbooks that steps start, in the daemon.
import { parseJson } from '../domain/json/parse.js'
import { isJsonObject } from '../domain/json/value.js'
import type { ChildData } from '../services/children/childResult.js'
import { type ChildKeeper, createChildKeeper } from '../services/children/children.js'
import { createPipelineChildren } from '../services/children/pipelineChildren.js'
import type { Children } from '../tools/run/children.js'
import type { ResultStore } from '../tools/run/resultStore.js'
import type { ResidentThreads } from '../workers/resident.js'
import type { Core } from './core.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

export interface ChildParts {
  keeper: ChildKeeper
  /** For tasks of pipelines. */
  pipelines(): Children
}

export function buildChildren(deps: Deps, core: Core, threads: ResidentThreads, results: ResultStore): ChildParts {
  const { databases, documents, clock, random, keyring, large, config } = deps
  const { appender, ids, engine } = core
  const parts = {
    ...{ databases, documents, appender, ids, clock, random, keyring, large, engine },
    depthMax: config.engineChildDepth,
    stepData: stepDataOf(deps, threads),
    results,
    onError: loopErrors(deps, 'child playbooks'),
  }
  const keeper = createChildKeeper(parts)
  appender.onAppended((_shard, _grown, _traces, ended) => {
    if (ended.size > 0) keeper.ended(ended)
  })
  return {
    keeper,
    pipelines: () => createPipelineChildren({ ...parts, untilEnded: keeper.untilEnded }),
  }
}

function stepDataOf({ databases }: Deps, threads: ResidentThreads) {
  return async (executionId: string, step: string): Promise<ChildData> => {
    const shard = databases.shardOf(executionId)
    const { data, reference } = await threads.ask(0, 'stepData', { shard, executionId, step })
    const stored = reference === undefined ? undefined : parseJson(reference)
    return { data: parseJson(data), ...(isJsonObject(stored) ? { reference: stored } : {}) }
  }
}
