// Fields of tools that are text by their kind: code, statements, addresses. Their outcome is never read again as a number or
// a list. In code of another language braces may mean something else: what is not a template there stays as it is.

import type { TextOptions } from '../template/tree.js'

interface Fields {
  readonly code?: readonly string[]
  readonly text?: readonly string[]
}

const STATEMENTS: Fields = { text: ['query', 'command', 'commands', 'commands/*', 'queries/*', 'schema', 'database'] }
const CODE: readonly string[] = ['code', 'script', 'script/code', 'script/source/code']

const FIELDS: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  ['python', { code: CODE, text: ['env/*', 'cwd'] }],
  ['rhai', { code: CODE }],
  ['wasm', { code: CODE }],
  ['script', { code: [...CODE, 'command', 'cmd', 'cmds', 'cmds/*'], text: ['env/*', 'cwd'] }],
  ['shell', { code: ['command', 'cmd', 'cmds', 'cmds/*'], text: ['env/*', 'cwd'] }],
  ['container', { code: ['command', 'command/*', 'args/*'], text: ['image', 'env/*', 'env/*/value'] }],
  ['postgres', STATEMENTS],
  ['duckdb', STATEMENTS],
  ['ducklake', STATEMENTS],
  ['snowflake', STATEMENTS],
  ['http', { text: ['url', 'endpoint', 'method', 'headers/*'] }],
  ['nats', { text: ['subject', 'bucket', 'key', 'stream', 'headers/*'] }],
  ['transfer', { text: ['source/query', 'source/url', 'target/table', 'target/query'] }],
  ['playbook', { text: ['path'] }],
])

const PLAIN: TextOptions = {}
const TEXT: TextOptions = { isText: true }
const CODE_TEXT: TextOptions = { isText: true, isCode: true }

/** By pointer below the configuration of a tool of this kind. */
export function textOptionsOf(kind: string): (pointer: string) => TextOptions {
  const fields = FIELDS.get(kind)
  if (fields === undefined) return () => PLAIN
  return (pointer) => {
    const segments = pointer.slice(1).split('/')
    if (fields.code?.some((pattern) => fits(pattern, segments))) return CODE_TEXT
    return fields.text?.some((pattern) => fits(pattern, segments)) ? TEXT : PLAIN
  }
}

function fits(pattern: string, segments: readonly string[]): boolean {
  const parts = pattern.split('/')
  return parts.length === segments.length && parts.every((part, index) => part === '*' || part === segments[index])
}
