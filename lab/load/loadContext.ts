// What every generator of load gets, and how it is run: as several loops side by side, until the load is over.
import type { Client } from '../client.js'
import type { Journal } from '../journal.js'
import type { Ledger } from '../ledger.js'
import type { Random } from '../random.js'
import type { Site } from '../site.js'

export interface LoadContext {
  site: Site
  client: Client
  ledger: Ledger
  journal: Journal
  random: Random
  /** Of the registered playbook. */
  catalogId: string
  isOver(): boolean
  pause(minMs: number, maxMs: number): Promise<void>
}

export type Load = (context: LoadContext) => Promise<void>

export const PLAYBOOK = 'chaos/work'

/** A refusal of something that is right. */
export function wronglyRefused(context: LoadContext, what: string, answer: { status: number; text: string }): void {
  context.journal.report({
    invariant: 'I8',
    kind: 'wrongly refused',
    message: `${what} was answered ${answer.status}: ${answer.text.slice(0, 400)}`,
  })
}
