// Promise: what is sealed can be opened only with the key, and only in its own place; keys can be replaced; an event
// gets its secrets back exactly.

import { describe, expect, it } from 'vitest'
import { eventChecksum, type OwnedEvent } from '../../src/domain/events/eventRecord.js'
import type { WireTime } from '../../src/domain/events/wireTime.js'
import type { EventId, ExecutionId } from '../../src/domain/ids/ids.js'
import { createEventSecrets, openEvent } from '../../src/domain/secrets/eventSecrets.js'
import { createKeyring } from '../../src/domain/secrets/keyring.js'
import { secretRules } from '../../src/domain/secrets/secretNames.js'

const OLD = 'an old key that is long enough, 32 characters'
const NEW = 'a new key that is long enough too, 32 characters'

describe('a sealed text', () => {
  const ring = createKeyring([OLD])

  it('opens in its place only', () => {
    const sealed = ring.seal(Buffer.from('hunter2'), 'event 1')
    expect(sealed).toMatch(/^v1\.[0-9a-f]{12}\.[A-Za-z0-9_-]+$/)
    expect(ring.open(sealed, 'event 1').toString()).toBe('hunter2')
    expect(() => ring.open(sealed, 'event 2')).toThrow(/was changed, or belongs to something else/)
    expect(ring.seal(Buffer.from('hunter2'), 'event 1')).not.toBe(sealed)
  })

  it('that was changed, cut off or is none at all is refused', () => {
    const sealed = ring.seal(Buffer.from('hunter2'), 'x')
    const body = sealed.lastIndexOf('.') + 1
    const flipped = sealed.slice(0, body) + (sealed[body] === 'A' ? 'B' : 'A') + sealed.slice(body + 1)
    for (const bad of [flipped, sealed.slice(0, body + 8), 'v1..', '', 'v2.0.a']) {
      expect(() => ring.open(bad, 'x')).toThrow(/sealed value of x/)
    }
  })

  it('survives a new key as long as the old one is at hand', () => {
    const sealed = ring.seal(Buffer.from('hunter2'), 'x')
    expect(createKeyring([NEW, OLD]).open(sealed, 'x').toString()).toBe('hunter2')
    expect(createKeyring([NEW, OLD]).seal(Buffer.from('a'), 'x')).toContain(createKeyring([NEW]).sealingKeyId)
    expect(() => createKeyring([NEW]).open(sealed, 'x')).toThrow(new RegExp(`sealed with key ${ring.sealingKeyId}`))
    expect(() => createKeyring([]).seal(Buffer.from('a'), 'x')).toThrow(/NOETL_CP_SECRET_KEY/)
  })
})

describe('an event', () => {
  const event: OwnedEvent = {
    executionId: '7' as ExecutionId,
    eventId: '8' as EventId,
    eventType: 'call.done',
    tenantId: 'default',
    organizationId: 'default',
    createdAt: '2026-01-01T00:00:00.000000+00:00' as WireTime,
    createdAtGiven: true,
    context: { user: 'u', list: [{ db_password: 'hunter2' }] },
    result: { status: 'DONE', context: { access_token: 'opaque-1', expires_in: 3600, count: 2n ** 60n } },
    meta: { trace: 'postgres://u:hunter2@h/db' },
    error: 'login with password=hunter2 failed',
    stackTrace: 'at login (token: "opaque-1")',
  }
  const ring = createKeyring([OLD])
  const secrets = createEventSecrets(secretRules(), ring)

  it('is shown without its secrets and gets them back exactly', () => {
    const shown = secrets.hide(event)
    const { hidden: _hidden, ...visible } = shown
    expect(JSON.stringify(visible, (_, value) => (typeof value === 'bigint' ? `${value}` : value))).not.toMatch(
      /hunter2|opaque-1/,
    )
    expect(shown.result).toEqual({
      status: 'DONE',
      context: { access_token: '[REDACTED]', expires_in: 3600, count: 2n ** 60n },
    })
    const sealed = secrets.seal(shown)!
    expect(Buffer.from(sealed).includes('hunter2')).toBe(false)
    expect(openEvent(visible, sealed, ring)).toEqual(event)
    expect(openEvent(visible, secrets.seal(shown)!, ring)).toEqual(event)
  })

  it('says the same whenever it comes again', () => {
    expect(eventChecksum(secrets.hide(event))).toBe(eventChecksum(secrets.hide({ ...event })))
    expect(eventChecksum(secrets.hide(secrets.hide(event)))).toBe(eventChecksum(secrets.hide(event)))
  })

  it('without secrets is left alone, and without a key its secrets are counted as lost', () => {
    const plain = {
      ...event,
      context: { a: 1 },
      result: null,
      meta: undefined,
      error: undefined,
      stackTrace: undefined,
    }
    expect(secrets.hide(plain)).toBe(plain)
    expect(secrets.seal(plain)).toBeNull()
    let lost = 0
    const keyless = createEventSecrets(secretRules(), createKeyring([]), () => {
      lost += 1
    })
    expect(keyless.seal(keyless.hide(event))).toBeNull()
    expect(lost).toBe(1)
  })
})
