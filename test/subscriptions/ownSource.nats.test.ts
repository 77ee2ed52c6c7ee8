// Promise: no subscription reads what we publish ourselves, whoever put it into the catalog or into the log and whatever
// it calls it: such a loop feeds itself, and takes messages away from our own consumers.
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import { ownSources } from '../../src/domain/subscriptions/ownSources.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
} from '../../src/services/subscriptions/lifecycle.js'
import { until } from '../support/until.js'
import { openPullRuntime, type PullRuntime } from './runtime.js'
import { type PullSpec, pullDocument } from './specs.js'

const token = randomBytes(4).toString('hex')
const STREAM = `OWN_${token}`
const PREFIX = `own${token}.events`
const COPY = `COPY_${token}`
let runtime: PullRuntime
let serial = 0

beforeAll(async () => {
  runtime = await openPullRuntime(inject('servers'))
  const own = ownSources({ streams: [STREAM], subjectPrefix: PREFIX, template: '{prefix}.{execution}' })
  runtime.cores[0] = { ...runtime.cores[0]!, own }
  await runtime.jsm.streams.add({ name: STREAM, subjects: [`${PREFIX}.>`] })
  await runtime.jsm.streams.add({ name: COPY, mirror: { name: STREAM } })
})
afterEach(() => runtime.rest())
afterAll(async () => {
  for (const name of [COPY, STREAM]) await runtime.jsm.streams.delete(name)
  await runtime.close()
})

const REFUSED: [string, Omit<PullSpec, 'path'>][] = [
  ['our stream', { stream: STREAM }],
  ['a subject of ours', { subject: `${PREFIX}.1` }],
  ['a wildcard over our subjects', { subject: '*.events.>' }],
  ['everything', { subject: '>' }],
  ['a consumer of ours', { stream: 'OTHER', extra: '  durable: noetl-cp-projector-1\n' }],
]

/** As another server, or an older version of this one, left it in the catalog. */
async function entryOf(spec: Omit<PullSpec, 'path'>): Promise<string> {
  const path = `tests/own-${++serial}`
  await runtime.shards[0]!.sql(
    `insert into noetl.catalog (catalog_id, path, version, kind, content) values ($1::bigint, $2::text, 1, 'subscription', $3::text)`,
    [String(9_000 + serial), path, pullDocument({ path, ...spec })],
  )
  return path
}

it.each(REFUSED)('refuses %s in the catalog and at registration', async (_what, spec) => {
  const [core] = runtime.cores
  const content = pullDocument({ path: 'tests/own', ...spec })
  await expect(registerEntry(core!, { content })).rejects.toMatchObject({ code: 'refused' })
  const path = await entryOf(spec)
  await expect(registerSubscription(core!, path)).rejects.toMatchObject({ code: 'refused' })
})

it.each([...REFUSED, ['a copy of our stream', { stream: COPY }] as const])(
  'refuses to activate or to drive %s that was registered elsewhere',
  async (_what, spec) => {
    const [core] = runtime.cores
    await runtime.publish(`${PREFIX}.1`, 3)
    const path = await entryOf(spec)
    const id = core!.ids.next()
    await runtime.shards[0]!.sql(
      `insert into noetl.subscription (subscription_id, path, catalog_id, state, mode)
       values ($1::bigint, $2::text, $3::bigint, 'REGISTERED', 'pull')`,
      [id, path, String(9_000 + serial)],
    )
    // A copy under another name is only seen when its stream is looked at.
    const isCopy = 'stream' in spec && spec.stream === COPY
    const activating = changeSubscription(core!, { id, action: 'activate' })
    if (isCopy) await activating
    else await expect(activating).rejects.toMatchObject({ code: 'refused' })
    await runtime.shards[0]!.sql(`update noetl.subscription set state = 'ACTIVE' where subscription_id = $1::bigint`, [
      id,
    ])
    await runtime.drive()
    await until('it is told', async () => /our own/.test((await findSubscription(core!, id)).trouble ?? ''))
    expect(await runtime.started(id)).toEqual([])
    await runtime.rest()
    await runtime.shards[0]!.sql('delete from noetl.subscription where subscription_id = $1::bigint', [id])
  },
)
