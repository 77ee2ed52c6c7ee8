// Messages that were given up: listed, started again, forgotten. Starting one again honours the lifecycle: the row
// of the subscription is held, so that a pause waits for it and nothing is started after one.

import type { Databases } from '../../db/databases.js'
import { isJsonObject } from '../../domain/json/value.js'
import { deliveryRules } from '../../domain/subscriptions/ingressMessage.js'
import { CpError, toCpError } from '../../errors.js'
import {
  type DeadRow,
  deleteDead,
  dropDead,
  holdState,
  listDead,
  takeDead,
} from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import type { ExecutionsDeps } from '../executions/executions.js'
import { dispatch } from './dispatch.js'
import { entryOf } from './entry.js'
import { followSubscription } from './following.js'
import { deliveryOf, placeOf } from './natsDelivery.js'

export type { DeadRow } from '../../stores/subscriptions/subscriptionDeliveryStore.js'

export function pageOfDead(
  deps: { databases: Databases },
  subscriptionId: string | undefined,
  after: string,
  limit: number,
): Promise<DeadRow[]> {
  return listDead(deps.databases.cluster.db, subscriptionId ?? null, after, limit)
}

export interface RedriveDeps extends ExecutionsDeps {
  documents: CatalogDocuments
}

/** Forgets them for good; answers which are gone. */
export function dropMessages(deps: { databases: Databases }, ids: readonly string[]): Promise<string[]> {
  return dropDead(deps.databases.cluster.db, ids)
}

export interface Redriven {
  id: string
  outcome: 'started' | 'duplicate' | 'failed'
  executionId?: string
  reason?: string
}

export async function redriveDead(deps: RedriveDeps, id: string): Promise<Redriven> {
  const { db } = deps.databases.cluster
  const subscriptionId = await db.tx(async (tx) => (await takeDead(tx, id))?.subscription_id)
  if (subscriptionId === undefined) throw new CpError('not_found', `there is no given-up message ${id}`)
  try {
    await followSubscription(deps, subscriptionId)
    const { epoch, rules } = await prepare(deps, subscriptionId)
    return await db.tx(async (tx) => {
      const held = await holdState(tx, subscriptionId)
      if (held?.state !== 'ACTIVE' || held.epoch !== epoch) throw notActive(subscriptionId, held?.state)
      const row = await takeDead(tx, id)
      if (row === undefined) return { id, outcome: 'duplicate' }
      const headers = isJsonObject(row.headers) ? row.headers : {}
      const delivery = await deliveryOf(deps.large, rules, row.identity, {
        ...placeOf(row.identity),
        subject: row.subject ?? '',
        data: row.body,
        header: (name) => (typeof headers[name] === 'string' ? headers[name] : undefined),
        headers: () => headers as Record<string, string>,
      })
      const target = {
        subscriptionId,
        epoch,
        lastEventId: held.last_event_id,
        playbook: rules.playbook,
        executionPool: rules.executionPool,
      }
      const [started] = await dispatch(deps, target, [delivery])
      await deleteDead(tx, id)
      return { id, outcome: started!.status, executionId: started!.executionId }
    })
  } catch (error) {
    const failure = toCpError(error)
    if (failure.code === 'illegal_transition') throw failure
    return { id, outcome: 'failed', reason: failure.message }
  }
}

async function prepare(deps: RedriveDeps, subscriptionId: string) {
  const held = await deps.databases.cluster.db.tx((tx) => holdState(tx, subscriptionId))
  if (held?.state !== 'ACTIVE') throw notActive(subscriptionId, held?.state)
  const { spec, written } = await entryOf(deps, held.catalog_id)
  return { epoch: held.epoch, rules: deliveryRules(spec, written) }
}

function notActive(subscriptionId: string, state: string | undefined): CpError {
  return new CpError(
    'illegal_transition',
    `subscription ${subscriptionId} is ${state ?? 'gone'}; activate or resume it before starting its messages again`,
  )
}
