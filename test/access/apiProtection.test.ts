// Promise: the API is open on this machine only as long as a write can neither start code nor use a credential; opening
// it further is always somebody's decision.
import { describe, expect, it } from 'vitest'
import { type ApiFacts, type ApiProtection, apiProtection } from '../../src/domain/access/apiProtection.js'

const QUIET: ApiFacts = {
  hasApiToken: false,
  allowOpenApi: false,
  isLocal: true,
  workerAllow: [],
  hasCredentials: false,
}

describe('the protection of the API', () => {
  it.each<[string, Partial<ApiFacts>, ApiProtection]>([
    ['nothing can happen', {}, 'local'],
    ['nothing can happen and the operator opened it', { allowOpenApi: true }, 'local'],
    ['tools may run', { workerAllow: ['python'] }, 'writes_token'],
    ['a credential is stored', { hasCredentials: true }, 'writes_token'],
    ['tools may run and the operator opened it', { workerAllow: ['python'], allowOpenApi: true }, 'open'],
    ['a credential is stored and the operator opened it', { hasCredentials: true, allowOpenApi: true }, 'open'],
    ['the network reaches it', { isLocal: false, allowOpenApi: true }, 'open'],
    ['the network reaches it and tools may run', { isLocal: false, workerAllow: ['http'] }, 'writes_token'],
    ['a token is configured', { hasApiToken: true }, 'token'],
    ['a token is configured, whatever else', { hasApiToken: true, allowOpenApi: true, hasCredentials: true }, 'token'],
  ])('when %s', (_, facts, expected) => {
    expect(apiProtection({ ...QUIET, ...facts })).toBe(expected)
  })
})
