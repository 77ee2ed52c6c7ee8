// Subscription documents for tests, and the parts of a daemon that drive them.
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { playbook, type TestCore } from '../support/core.js'

export interface PullSpec {
  path: string
  /** Found by the subject when it is not named. */
  stream?: string
  subject?: string
  playbook?: string
  extra?: string
}

export function pullDocument(spec: PullSpec): string {
  return `apiVersion: noetl.io/v2
kind: Subscription
metadata:
  path: ${spec.path}
spec:
  source: nats
${spec.stream === undefined ? '' : `  stream: ${spec.stream}\n`}${spec.subject === undefined ? '' : `  subject: ${JSON.stringify(spec.subject)}\n`}  mode: pull
  dispatch:
    playbook: ${spec.playbook ?? 'tests/handler'}
${spec.extra ?? ''}`
}

export interface PushSpec {
  path: string
  listener: string
  verify?: string
  extra?: string
}

export function pushDocument(spec: PushSpec): string {
  return `apiVersion: noetl.io/v2
kind: Subscription
metadata:
  path: ${spec.path}
spec:
  source: webhook
  mode: push
  ingress:
    gateway_path: /hooks/${spec.listener}
    verify: ${spec.verify ?? '{type: hmac_sha256, header: X-Signature, secret: test_hook}'}
  dispatch:
    playbook: tests/handler
${spec.extra ?? ''}`
}

export async function registerDocuments(core: TestCore, ...documents: string[]): Promise<void> {
  for (const content of [playbook('tests/handler'), ...documents]) await registerEntry(core, { content })
}
