// The commands of decisions that go straight to workers: whom each is offered to, the event that claims it, and what its
// worker gets when all of it is committed.
import { LEASE_SECONDS } from '../../domain/commands/commandRules.js'
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { isRespelled } from '../../domain/json/respelled.js'
import { isJsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import type { Decision, NewCommand } from '../../domain/state/orchestrator.js'
import { claimItem, type HandOutDeps } from '../commands/handOut.js'
import type { Handed, HandOver, Taker } from '../commands/handOver.js'
import type { AppendItem, AppendOutcome } from '../events/appendInTx.js'

export interface HandingOver {
  takerOf(command: NewCommand): Taker | undefined
  /** Those that are committed. To be called once, whatever happens. */
  settle(handed: ReadonlyMap<NewCommand, Handed>): void
}

export const NOBODY: HandingOver = { takerOf: () => undefined, settle: () => undefined }

export function forWorkers({ commands = [] }: Decision): NewCommand[] {
  return commands.filter(({ waitsFor }) => waitsFor === 'worker')
}

/** The pools of those that wait for claims. */
export function poolsLeftWaiting(decision: Decision, handed: ReadonlyMap<NewCommand, Handed>): string[] {
  const waiting = forWorkers(decision).filter((command) => !handed.has(command))
  return [...new Set(waiting.map(({ pool }) => pool))]
}

export async function offerCommands(
  handOver: HandOver | undefined,
  decisions: readonly Decision[],
): Promise<HandingOver> {
  const commands = decisions.flatMap(forWorkers)
  if (handOver === undefined || commands.length === 0) return NOBODY
  const offer = await handOver.offer(commands.map(({ pool, kind, priority = 0 }) => ({ pool, kind, priority })))
  const takers = new Map(commands.map((command, index) => [command, offer.takers[index]]))
  return {
    takerOf: (command) => takers.get(command),
    settle: (handed) => offer.settle(commands.map((command) => handed.get(command))),
  }
}

export interface Claim {
  command: NewCommand
  workerId: string
  leaseSeconds: number
  item: AppendItem
}

/** It is written behind the events of its decision. */
export function claimFor(
  deps: Pick<HandOutDeps, 'ids' | 'clock'>,
  executionId: string,
  command: NewCommand,
  { workerId, leaseSeconds = LEASE_SECONDS }: Taker,
): Claim {
  const { key: commandId, step, kind } = command
  const item = claimItem(deps, { executionId, eventId: '', commandId, step, kind, workerId, leaseSeconds })
  const meta = isJsonObject(item.event.meta) ? item.event.meta : {}
  item.event = { ...item.event, meta: { ...meta, attempt: 1 } }
  return { command, workerId, leaseSeconds, item }
}

export function handedOf(
  { command, workerId, leaseSeconds }: Claim,
  issued: EventRecord,
  outcome: AppendOutcome,
  leaseUntil: string,
): Handed {
  const isHidden = outcome.kind === 'stored' && outcome.isHidden === true
  const isRead = isHidden || isRespelled(textOf(issued.context)) || isRespelled(textOf(issued.meta))
  return {
    executionId: issued.executionId,
    eventId: outcome.kind === 'stored' ? outcome.eventId : issued.eventId,
    commandId: command.key,
    step: command.step,
    kind: command.kind,
    workerId,
    leaseSeconds,
    leaseUntil,
    issued: isRead ? undefined : issued,
  }
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? '' : writeJson(value)
}
