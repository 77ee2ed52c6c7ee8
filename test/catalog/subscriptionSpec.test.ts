// Promise: a subscription document is read as written or refused with all of its mistakes, each at its place.

import { describe, expect, it } from 'vitest'
import { parseCatalogDocument } from '../../src/domain/catalog/catalogDocument.js'
import type { Violation } from '../../src/domain/catalog/violation.js'
import { listenerOf, type SubscriptionSpec } from '../../src/domain/subscriptions/subscriptionSpec.js'
import { subscriptionWarnings } from '../../src/domain/subscriptions/subscriptionWarnings.js'
import { CpError } from '../../src/errors.js'

const document = (spec: unknown) => JSON.stringify({ kind: 'Subscription', metadata: { path: 's/x' }, spec })
const parse = (spec: unknown) => parseCatalogDocument(document(spec)).subscription as SubscriptionSpec

function wrong(spec: unknown): string[] {
  try {
    parse(spec)
  } catch (error) {
    if (error instanceof CpError && error.code === 'refused') {
      return (error.details['violations'] as Violation[]).map(({ path }) => path)
    }
    throw error
  }
  return []
}

const PULL = { source: 'nats', mode: 'pull', dispatch: { playbook: 'p' } }
const PUSH = {
  source: 'webhook',
  mode: 'push',
  dispatch: { playbook: 'p' },
  ingress: { gateway_path: '/hooks/stripe', verify: { type: 'hmac_sha256', header: 'X-Sig', secret: 'alias' } },
}

describe('good specs', () => {
  it('fill in the defaults', () => {
    expect(parse(PULL)).toEqual({
      source: { type: 'nats', settings: {} },
      mode: 'pull',
      activation: 'continuous',
      driver: 'control_plane',
      dispatch: { playbook: 'p', payloadFrom: 'message.json', batchDispatch: false, batchMax: 1 },
      dedup: { enabled: false, windowSeconds: 300 },
      limits: {},
    })
  })

  it('keep everything they say', () => {
    const spec = parse({
      ...PULL,
      source: { type: 'nats', stream: 'ORDERS', subject: 'orders.>' },
      activation: 'scheduled',
      dispatch: {
        playbook: 'p',
        batch_dispatch: true,
        batch_max: 1000,
        execution_pool: 'gpu',
        payload_from: 'message',
      },
      dedup: { window_secs: 1.5 },
      limits: { max_in_flight: 5, max_dispatch_per_sec: 0.5 },
      headers: { directives: [{ header: 'x-p', controls: 'priority' }] },
      spool: { mode: 'hybrid', backend: 's3', bucket: 'b', ordering: 'global' },
    })
    expect(spec).toMatchObject({
      source: { type: 'nats', settings: { stream: 'ORDERS', subject: 'orders.>' } },
      activation: 'scheduled',
      dispatch: { batchDispatch: true, batchMax: 1000, executionPool: 'gpu', payloadFrom: 'message' },
      dedup: { enabled: true, windowSeconds: 1.5 },
      limits: { maxInFlight: 5, maxDispatchPerSecond: 0.5 },
      spool: { mode: 'hybrid', backend: 's3', bucket: 'b', ordering: 'global' },
    })
    expect(spec.source.settings).not.toHaveProperty('type')
  })

  it('are delivered by the control plane where it can, and by others where it cannot or they say so', () => {
    const oidc = { type: 'pubsub_oidc', audience: 'a', service_account: 'b' }
    expect(
      [
        PULL,
        { ...PULL, driver: 'external' },
        { ...PULL, source: 'kafka' },
        { ...PULL, activation: 'scheduled' },
        PUSH,
        { ...PUSH, ingress: { ...PUSH.ingress, verify: oidc } },
      ].map((spec) => parse(spec).driver),
    ).toEqual(['control_plane', 'external', 'external', 'external', 'control_plane', 'external'])
  })

  it('name a source in short, with its settings beside it', () => {
    expect(parse({ ...PULL, stream: 'S', nats: { subject: 'a' } }).source).toEqual({
      type: 'nats',
      settings: { stream: 'S', subject: 'a' },
    })
  })

  it('push by three kinds of proof', () => {
    expect(parse(PUSH).ingress).toEqual({
      gatewayPath: '/hooks/stripe',
      listener: 'stripe',
      verify: { type: 'hmac_sha256', header: 'x-sig', secret: 'alias' },
    })
    const verified = (verify: unknown) => parse({ ...PUSH, ingress: { gateway_path: '/a', verify } }).ingress?.verify
    expect(verified({ type: 'bearer', secret: 's' })).toEqual({ type: 'bearer', secret: 's' })
    expect(verified({ type: 'pubsub_oidc', audience: 'a', service_account: 'b' })).toEqual({
      type: 'pubsub_oidc',
      audience: 'a',
      serviceAccount: 'b',
    })
  })
})

describe('bad specs', () => {
  it.each<[unknown, string[]]>([
    [undefined, ['/spec']],
    [[], ['/spec']],
    [{}, ['/spec/source', '/spec/mode', '/spec/dispatch']],
    [{ ...PULL, source: 'mqtt' }, ['/spec/source']],
    [{ ...PULL, source: { stream: 'x' } }, ['/spec/source/type']],
    [{ ...PULL, source: ['nats'] }, ['/spec/source']],
    [{ ...PULL, mode: 'Pull' }, ['/spec/mode']],
    [{ ...PULL, activation: 'sometimes' }, ['/spec/activation']],
    [{ ...PUSH, activation: 'continuous' }, ['/spec/activation']],
    [{ ...PULL, dispatch: {} }, ['/spec/dispatch/playbook']],
    [
      { ...PULL, dispatch: { playbook: ' ', batch_dispatch: 'yes' } },
      ['/spec/dispatch/playbook', '/spec/dispatch/batch_dispatch'],
    ],
    [{ ...PULL, dispatch: { playbook: 'p', batch_max: 0 } }, ['/spec/dispatch/batch_max']],
    [{ ...PULL, dispatch: { playbook: 'p', batch_max: 1001 } }, ['/spec/dispatch/batch_max']],
    [{ ...PULL, dedup: true }, ['/spec/dedup']],
    [{ ...PULL, dedup: { enabled: 1, window_secs: 0 } }, ['/spec/dedup/enabled', '/spec/dedup/window_secs']],
    [
      { ...PULL, limits: { max_in_flight: 0, max_dispatch_per_sec: -1 } },
      ['/spec/limits/max_in_flight', '/spec/limits/max_dispatch_per_sec'],
    ],
    [{ ...PULL, headers: [] }, ['/spec/headers']],
    [{ ...PULL, headers: { directives: {} } }, ['/spec/headers/directives']],
    [
      {
        ...PULL,
        headers: { directives: [{ header: 'x-noetl-route', controls: 'dispatch.playbook', allowed: ['a'] }] },
      },
      ['/spec/headers/directives/0/controls'],
    ],
    [
      { ...PUSH, headers: { directives: [{ header: 'x-noetl-route', controls: 'dispatch.playbook' }] } },
      ['/spec/headers/directives/0/allowed'],
    ],
    [
      { ...PULL, headers: { directives: [{}, 'x', { header: 'h' }] } },
      [
        '/spec/headers/directives/1',
        '/spec/headers/directives/0/header',
        '/spec/headers/directives/0/controls',
        '/spec/headers/directives/2/controls',
      ],
    ],
    [
      { ...PULL, spool: { mode: 'on', backend: 'tape', ordering: 'some' } },
      ['/spec/spool/mode', '/spec/spool/backend', '/spec/spool/ordering'],
    ],
    [{ ...PULL, spool: { mode: 'hybrid', backend: 'gcs' } }, ['/spec/spool/bucket']],
    [{ ...PULL, spool: { mode: 'hybrid', backend: 'local_disk' } }, ['/spec/spool/path']],
    [
      { ...PULL, spool: { mode: 'hybrid', ordering: 'global', drain: { on_recovery: 'interleave' } } },
      ['/spec/spool/drain/on_recovery'],
    ],
    [{ ...PULL, driver: 'somebody' }, ['/spec/driver']],
    [{ ...PULL, source: 'kafka', driver: 'control_plane' }, ['/spec/driver']],
    [{ ...PULL, activation: 'scheduled', driver: 'control_plane' }, ['/spec/driver']],
    [{ ...PUSH, ingress: undefined }, ['/spec/ingress']],
    [{ ...PUSH, ingress: {} }, ['/spec/ingress/gateway_path', '/spec/ingress/verify']],
    [{ ...PUSH, ingress: { ...PUSH.ingress, gateway_path: 'hooks' } }, ['/spec/ingress/gateway_path']],
    [{ ...PUSH, ingress: { ...PUSH.ingress, gateway_path: '/' } }, ['/spec/ingress/gateway_path']],
    [{ ...PUSH, ingress: { ...PUSH.ingress, verify: { type: 'none' } } }, ['/spec/ingress/verify/type']],
    [
      { ...PUSH, ingress: { ...PUSH.ingress, verify: { type: 'hmac_sha256' } } },
      ['/spec/ingress/verify/header', '/spec/ingress/verify/secret'],
    ],
    [
      { ...PUSH, ingress: { ...PUSH.ingress, verify: { type: 'pubsub_oidc', audience: 'a' } } },
      ['/spec/ingress/verify/service_account'],
    ],
  ])('%j', (spec, paths) => {
    expect(wrong(spec)).toEqual(paths)
  })
})

describe('listener', () => {
  it.each([
    ['/hooks/stripe', 'stripe'],
    ['/stripe/', 'stripe'],
    ['/', undefined],
    ['/a b', undefined],
  ])('of %s is %s', (path, listener) => {
    expect(listenerOf(path)).toBe(listener)
  })
})

describe('warnings', () => {
  const warned = (spec: unknown) => subscriptionWarnings(parse(spec)).map(({ path }) => path)

  it('name every part that has no effect here, and nothing else', () => {
    expect(
      warned({
        ...PULL,
        dispatch: { playbook: 'p', batch_dispatch: true, batch_max: 10 },
        spool: { mode: 'buffer_and_ack' },
        headers: {
          directives: [
            { header: 'X-Key', controls: 'idempotency_key' },
            { header: 'X-Priority', controls: 'priority' },
          ],
        },
      }),
    ).toEqual(['/spec/spool', '/spec/dispatch/batch_dispatch', '/spec/headers/directives/1'])
  })

  it('say nothing about documents that are acted upon as written', () => {
    expect(warned(PULL)).toEqual([])
    expect(warned(PUSH)).toEqual([])
    expect(warned({ ...PULL, spool: { mode: 'off' }, dispatch: { playbook: 'p', batch_dispatch: false } })).toEqual([])
    expect(subscriptionWarnings(undefined)).toEqual([])
  })
})
