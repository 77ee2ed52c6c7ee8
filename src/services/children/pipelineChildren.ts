// Playbooks as tasks of a pipeline: the worker that runs the pipeline starts them and waits. The key of the task gives the
// same child again after the worker was lost. A child whose parent has ended is cancelled.
import { withValues } from '../../domain/engine/loopParts.js'
import { isTerminalStatus, noSuchExecution } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { toCpError } from '../../errors.js'
import type { FamilyMember } from '../../stores/children/childStore.js'
import type { ChildEnd, Children } from '../../tools/run/children.js'
import type { ResultStore } from '../../tools/run/resultStore.js'
import { cancelExecution } from '../executions/cancellation.js'
import { startEntry } from '../executions/executions.js'
import { type ChildData, type ChildResultDeps, resultOf } from './childResult.js'
import { type ChildStartDeps, prepareChild } from './childStart.js'
import { familyOf } from './family.js'

export interface PipelineChildrenDeps extends ChildStartDeps, Omit<ChildResultDeps, 'results'> {
  results: Pick<ResultStore, 'get'>
  /** Resolves when one of them ends, or after the time. */
  untilEnded(executionId: string, timeoutMs: number, signal: AbortSignal): Promise<void>
}

const LOOK_MS = 5_000
/** How long a pipeline may be run again and find its child. */
const KNOWN_SECONDS = 7 * 86_400

export function createPipelineChildren(deps: PipelineChildrenDeps): Children {
  const memberOf = async (executionId: string): Promise<FamilyMember> => {
    const member = (await familyOf(deps.databases, [executionId])).get(executionId)
    if (member === undefined) throw noSuchExecution(executionId)
    return member
  }

  async function cancelWithParent(executionId: string): Promise<void> {
    const { parent_execution_id: parentId, status } = await memberOf(executionId)
    if (parentId === null || isTerminalStatus(status) || !isTerminalStatus((await memberOf(parentId)).status)) return
    const reason = `its parent ${parentId} has ended`
    await cancelExecution(deps, { executionId: executionId as ExecutionId, reason, cascade: true })
  }

  return {
    start: async ({ key, parentExecutionId, parentCommandId, path, catalogId, version, payload }) => {
      try {
        const parent = await memberOf(parentExecutionId)
        const wants = { path, catalogId, version, payload }
        const { entry, request } = await prepareChild(deps, parent, { id: parentCommandId, wants })
        const dedup = { key, windowSeconds: KNOWN_SECONDS }
        const { executionId } = await startEntry(deps, entry, { ...request, dedup })
        return { executionId, path: entry.path }
      } catch (error) {
        const { code, message } = toCpError(error)
        if (code === 'not_found' || code === 'refused') throw new ToolFailure('config', message, { cause: error })
        throw error
      }
    },
    ended: async (executionId, signal): Promise<ChildEnd> => {
      try {
        for (;;) {
          signal.throwIfAborted()
          const { status, error, duration_ms: ms } = await memberOf(executionId)
          if (isTerminalStatus(status)) {
            return { status, error: error ?? undefined, durationMs: ms === null ? undefined : Math.round(ms) }
          }
          await deps.untilEnded(executionId, LOOK_MS, signal)
        }
      } catch (error) {
        if (signal.aborted) await cancelWithParent(executionId)
        throw error
      }
    },
    resultOf: async (executionId, step, signal) => {
      const { data, reference }: ChildData =
        step === undefined ? await resultOf(deps, await memberOf(executionId)) : await deps.stepData(executionId, step)
      const ref = reference?.['ref']
      if (typeof ref === 'string') return deps.results.get(ref, signal)
      return withValues(data, (part) => deps.results.get(part, signal))
    },
  }
}
