// Promise: a subject built from any names is publishable and addresses only its own execution; anything
// that could reach further is refused. Command routing is checked against pinned subjects.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assertPublishableSubject,
  assertSubjectTemplate,
  cleanToken,
  commandPool,
  commandSubject,
  renderEventSubject,
  subjectMatches,
} from '../../src/domain/outbox/subject.js'
import { CpError } from '../../src/errors.js'
import { idVectors } from '../ids/idVectors.js'

describe('tokens', () => {
  it.each([
    ['acme', 'acme'],
    ['a.b c', 'a-b-c'],
    ['-a-', 'a'],
    ['*', 'default'],
    ['', 'default'],
    ['..', 'default'],
    ['Zürich_1', 'Z-rich_1'],
    ['😀x', 'x'],
  ])('"%s" becomes "%s"', (text, token) => {
    expect(cleanToken(text)).toBe(token)
  })

  it('an absent execution is "none"', () => {
    expect(renderEventSubject({ tenant: null, organization: undefined, execution: null, shard: 0 })).toBe(
      'noetl.events.default.default.none.0',
    )
  })

  it('any names give a publishable subject of six tokens', () => {
    const name = fc.string({ unit: 'binary', maxLength: 60 })
    fc.assert(
      fc.property(name, name, fc.nat(1023), (tenant, organization, shard) => {
        const subject = renderEventSubject({ tenant, organization, execution: '42', shard })
        assertPublishableSubject(subject)
        expect(subject.split('.')).toHaveLength(6)
        expect(subject.endsWith(`.42.${shard}`)).toBe(true)
      }),
    )
  })
})

describe('publishable subjects', () => {
  it.each(['noetl.events.a.b.1.0', 'a', `a.${'x'.repeat(254)}`, 'noetl.events.playbook_started'])(
    'takes %s',
    (text) => {
      expect(() => assertPublishableSubject(text)).not.toThrow()
    },
  )

  it.each([
    '',
    'a..b',
    '.a',
    'a.',
    'a.*',
    'a.>',
    'a*b',
    'a b',
    'a\tb',
    'a\n',
    'a\u0000',
    'a\u007f',
    'ä',
    '$JS.API.STREAM.DELETE.x',
    'a.$SYS',
    '_INBOX.x',
    'a._inbox',
    `a.${'x'.repeat(255)}`,
  ])('refuses %j', (text) => {
    expect(() => assertPublishableSubject(text)).toThrowError(CpError)
  })

  it('checks a template before the first event', () => {
    expect(() => assertSubjectTemplate('mine.{tenant}.{execution}')).not.toThrow()
    expect(() => assertSubjectTemplate('mine.{tenent}')).toThrowError(/unknown placeholder/)
    expect(() => assertSubjectTemplate('mine.{tenant')).toThrowError(/unknown placeholder/)
    expect(() => assertSubjectTemplate('mine.>')).toThrowError(/wildcard/)
  })
})

describe('command subjects', () => {
  it.each(idVectors.command_subject)(
    '$subject',
    ({ pool, execution_id, shard_route, command_shard_count, subject }) => {
      expect(
        commandSubject({
          pool,
          executionId: execution_id,
          shardRoute: shard_route,
          commandShardCount: command_shard_count,
        }),
      ).toBe(subject)
    },
  )

  it('reach exactly one shard filter, and always the broad one', () => {
    for (let index = 0; index < 2000; index++) {
      const executionId = String(320816801799737344n + BigInt(index))
      const routed = commandSubject({ pool: 'system', executionId, shardRoute: true, commandShardCount: 4 })
      const plain = commandSubject({ pool: 'system', executionId, shardRoute: false, commandShardCount: 4 })
      const filters = [0, 1, 2, 3].map((shard) => `noetl.commands.system.shard.${shard}.>`)
      expect(filters.filter((filter) => subjectMatches(filter, routed))).toHaveLength(1)
      expect(filters.filter((filter) => subjectMatches(filter, plain))).toHaveLength(0)
      expect(subjectMatches('noetl.commands.system.>', routed)).toBe(true)
      expect(subjectMatches('noetl.commands.system.>', plain)).toBe(true)
    }
  })

  it.each([
    ['a.*', 'a.b', true],
    ['a.*', 'a.b.c', false],
    ['a.>', 'a', false],
    ['a.>', 'a.b.c', true],
    ['a.b', 'a', false],
    ['*.b', 'a.b', true],
  ])('filter %s on %s: %s', (filter, subject, matches) => {
    expect(subjectMatches(filter, subject)).toBe(matches)
  })

  it('choose the pool by request, then by path', () => {
    expect(commandPool('gpu', 'system/x')).toBe('gpu')
    expect(commandPool(undefined, 'system/x')).toBe('system')
    expect(commandPool('', 'subscription/x')).toBe('subscription')
    expect(commandPool(undefined, 'systematic')).toBe('shared')
    expect(commandPool(undefined, undefined)).toBe('shared')
  })
})
