// Kinds of tools that run code of the playbook on this machine are allowed by a person, not by the playbook.
import { createInterface } from 'node:readline/promises'
import { isJsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { ApiClient } from '../apiClient.js'
import type { CommandContext } from '../command.js'
import type { Need } from './playbookFiles.js'

const CODE_KINDS: readonly string[] = ['python', 'shell', 'container']

/** Kinds of --allow, and those that a person at the terminal agrees to. */
export async function allowedKinds(
  context: CommandContext,
  needs: readonly Need[],
  given: readonly string[],
): Promise<string[]> {
  const allowed = new Set([...given, ...context.config().config.workerAllow])
  const missing = needs.filter(({ kind }) => CODE_KINDS.includes(kind) && !allowed.has(kind))
  if (missing.length === 0) return [...allowed]
  if (!(await isAgreed(context, missing))) {
    throw new CpError('invalid_input', `${needText(missing)}: add --allow ${missing.map(({ kind }) => kind).join(',')}`)
  }
  return [...allowed, ...missing.map(({ kind }) => kind)]
}

async function isAgreed({ io, isJson }: CommandContext, missing: readonly Need[]): Promise<boolean> {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true || isJson) return false
  const asking = createInterface({ input: io.stdin, output: io.stderr })
  try {
    const answer = await asking.question(
      `${needText(missing)}. It runs as you, with all that you may read and do. Allow it? [y/N] `,
    )
    return /^\s*y(es)?\s*$/i.test(answer)
  } finally {
    asking.close()
  }
}

/** Of an instance that is running: what it runs was decided when it was started. */
export async function assertOffered(api: ApiClient, needs: readonly Need[]): Promise<void> {
  const offered = offeredKinds(await api.get('/api/worker/pools'))
  const missing = needs.filter(({ kind }) => CODE_KINDS.includes(kind) && !offered.has(kind))
  if (missing.length === 0) return
  const kinds = missing.map(({ kind }) => kind).join(',')
  throw new CpError(
    'invalid_input',
    `${needText(missing)}, which no worker of the running instance does: start it with NOETL_CP_WORKER_ALLOW=${kinds}, or add --local --allow ${kinds}`,
  )
}

function offeredKinds(answer: JsonValue): Set<string> {
  const pools = isJsonObject(answer) ? answer['items'] : answer
  const kinds = new Set<string>()
  for (const pool of Array.isArray(pools) ? pools : []) {
    if (!isJsonObject(pool) || pool['alive'] !== true) continue
    const tools = isJsonObject(pool['capabilities']) ? pool['capabilities']['tools'] : undefined
    for (const kind of Array.isArray(tools) ? tools : []) kinds.add(String(kind))
  }
  return kinds
}

function needText(needs: readonly Need[]): string {
  return `playbook needs ${needs.map(({ kind, steps }) => `${kind} (steps ${steps.join(', ')})`).join(' and ')}`
}
