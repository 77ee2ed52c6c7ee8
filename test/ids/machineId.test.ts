// Promise: the slot proposed for a host is the one every other implementation proposes, and a configured
// slot is taken as written or refused, never bent into range.

import { describe, expect, it } from 'vitest'
import { KEYS } from '../../src/config/keys.js'
import {
  DAEMON_MACHINE_ID_MAX,
  fnv1a64,
  MACHINE_ID_MAX,
  machineIdOfHost,
  ONE_SHOT_MACHINE_ID_MIN,
  parseMachineId,
  proposeMachineId,
} from '../../src/domain/ids/machineId.js'
import { CpError } from '../../src/errors.js'
import { idVectors } from './idVectors.js'

describe('the range', () => {
  it('is the same in the program and in its help', () => {
    const { help } = KEYS.machineId
    expect(help).toContain(`Machine id 0..${MACHINE_ID_MAX} `)
    expect(help).toContain(`a free one of 0..${DAEMON_MACHINE_ID_MAX},`)
    expect(help).toContain(`one of ${ONE_SHOT_MACHINE_ID_MIN}..${MACHINE_ID_MAX}`)
    expect([0, MACHINE_ID_MAX].map((id) => parseMachineId(String(id)))).toEqual([0, MACHINE_ID_MAX])
    expect(() => parseMachineId(String(MACHINE_ID_MAX + 1))).toThrow(`0 to ${MACHINE_ID_MAX}`)
  })
})

describe('hash of a host name', () => {
  it.each(idVectors.machine_id)('gives $machine_id for "$hostname"', ({ hostname, fnv1a64: hash, machine_id }) => {
    expect(fnv1a64(hostname).toString()).toBe(hash)
    expect(machineIdOfHost(hostname)).toBe(machine_id)
  })

  it.each(idVectors.statefulset_machine_id_collisions)(
    'spreads $pods pods of $prefix',
    ({ prefix, pods, distinct }) => {
      const ids = new Set(Array.from({ length: pods }, (_, index) => machineIdOfHost(`${prefix}-${index}`)))
      expect(ids.size).toBe(distinct)
    },
  )
})

describe('order of sources', () => {
  it('prefers the setting, then HOSTNAME, COMPUTERNAME, the operating system, the literal', () => {
    const all = { explicit: '7', hostname: 'noetl-cp-0', computerName: 'noetl-cp-1', osHostname: 'pod-0' }
    expect(proposeMachineId(all)).toEqual({ machineId: 7, explicit: true })
    expect(proposeMachineId({ ...all, explicit: undefined })).toEqual({ machineId: 510, explicit: false })
    expect(proposeMachineId({ ...all, explicit: '', hostname: '' }).machineId).toBe(945)
    expect(proposeMachineId({ osHostname: 'pod-0' }).machineId).toBe(601)
    expect(proposeMachineId({})).toEqual({ machineId: 465, explicit: false })
  })
})

describe('a configured slot', () => {
  it('takes 0 to 1023', () => {
    expect(parseMachineId('0')).toBe(0)
    expect(parseMachineId('1023')).toBe(1023)
  })

  it.each(['1024', '65536', '-1', '1.0', ' 1', 'abc', '1e2', '0x1', ''])('refuses "%s"', (text) => {
    expect(() => parseMachineId(text)).toThrowError(CpError)
    expect(() => parseMachineId(text)).toThrowError(/NOETL_SERVER_MACHINE_ID must be .* 0 to 1023/)
  })
})
