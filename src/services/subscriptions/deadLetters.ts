// Messages that were given up: listed, started again, forgotten. One is started again as any message is: only while the
// subscription is active, by the right that ends with a pause, and once, whoever asks for it at the same time. No
// transaction is open meanwhile: whoever holds a connection must not wait for another.

import type { Databases } from '../../db/databases.js'
import { isJsonObject, type JsonValue } from '../../domain/json/value.js'
import { deliveryRules } from '../../domain/subscriptions/ingressMessage.js'
import { SHOWN_HEAD_BYTES, SHOWN_WHOLE_MAX, shownBody } from '../../domain/subscriptions/shownBody.js'
import { CpError, toCpError } from '../../errors.js'
import {
  type DeadMessageRow,
  type DeadRow,
  deleteDead,
  dropDead,
  getDead,
  headsOfDead,
  listDead,
} from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import { getSubscription } from '../../stores/subscriptions/subscriptionStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import type { ExecutionsDeps, Started } from '../executions/executions.js'
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

/** What a person is shown of each message, by its id; null where it cannot be shown. */
export async function shownBodies(
  deps: { databases: Databases },
  ids: readonly string[],
): Promise<Map<string, JsonValue>> {
  const sizes = { wholeMax: SHOWN_WHOLE_MAX, headBytes: SHOWN_HEAD_BYTES }
  const heads = await headsOfDead(deps.databases.cluster.db, ids, sizes)
  return new Map(heads.map(({ dead_letter_id: id, is_whole, head }) => [id, shownBody(head, is_whole)]))
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

// The subscription may be changed between our look and the commit: the next look tells what holds now.
const TRIES = 3

export async function redriveDead(deps: RedriveDeps, id: string): Promise<Redriven> {
  const { db } = deps.databases.cluster
  const message = await getDead(db, id)
  if (message === undefined) throw new CpError('not_found', `there is no given-up message ${id}`)
  for (let tries = 1; ; tries++) {
    try {
      const started = await start(deps, message)
      await deleteDead(db, id)
      return { id, outcome: started.status, executionId: started.executionId }
    } catch (error) {
      const failure = toCpError(error)
      if (failure.code === 'lost_claim' && tries < TRIES) continue
      if (failure.code === 'illegal_transition') throw failure
      return { id, outcome: 'failed', reason: failure.message }
    }
  }
}

async function start(deps: RedriveDeps, message: DeadMessageRow): Promise<Started> {
  const { subscription_id: subscriptionId, identity, subject, body } = message
  await followSubscription(deps, subscriptionId)
  const row = await getSubscription(deps.databases.cluster.db, subscriptionId)
  if (row?.state !== 'ACTIVE') throw notActive(subscriptionId, row?.state)
  const { spec, written } = await entryOf(deps, row.catalog_id)
  const rules = deliveryRules(spec, written)
  const headers = isJsonObject(message.headers) ? message.headers : {}
  const delivery = await deliveryOf(deps.large, rules, identity, {
    ...placeOf(identity),
    subject: subject ?? '',
    data: body,
    header: (name) => (typeof headers[name] === 'string' ? headers[name] : undefined),
    headers: () => headers as Record<string, string>,
  })
  const { epoch, last_event_id: lastEventId } = row
  const { playbook, executionPool } = rules
  const [started] = await dispatch(deps, { subscriptionId, epoch, lastEventId, playbook, executionPool }, [delivery])
  return started!
}

function notActive(subscriptionId: string, state: string | undefined): CpError {
  return new CpError(
    'illegal_transition',
    `subscription ${subscriptionId} is ${state ?? 'gone'}; activate or resume it before starting its messages again`,
  )
}
