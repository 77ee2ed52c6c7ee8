// Acts of people on record: written down before they are done, completed afterwards. What cannot be written down is not done.
import type { Databases } from '../../db/databases.js'
import type { JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { redact, redactText } from '../../domain/secrets/redact.js'
import { type SecretRules, secretRules } from '../../domain/secrets/secretNames.js'
import { CpError, toCpError } from '../../errors.js'
import {
  type ActionOutcome,
  type ActionTarget,
  beginAction,
  endAction,
  type NewAction,
} from '../../stores/access/operatorActionStore.js'

export type { ActionTarget }

export interface Act extends Omit<NewAction, 'request'> {
  /** What was asked for; secrets are taken out here. */
  request: JsonValue
}

export interface Acts {
  /** Does the work between the two halves of its record. `aboutOf`: what it was about, where that is known only afterwards. */
  around<T>(act: Act, work: () => Promise<T>, aboutOf?: (done: T) => ActionTarget | undefined): Promise<T>
}

export interface ActsDeps {
  databases: Pick<Databases, 'cluster'>
  /** Null where nothing is hidden: a record hides the usual names all the same. */
  secretRules: SecretRules | null
  /** An act is over and its record could not be completed. */
  onUnfinished(error: CpError): void
  /** Something was written down. */
  onRecorded?(id: string): void
}

// Enough to see what was asked; a workload of megabytes is no part of a record.
const REQUEST_MAX = 8_192
const TEXT_MAX = 500

export function createActs({ databases, secretRules: given, onUnfinished, onRecorded }: ActsDeps): Acts {
  const { db } = databases.cluster
  const rules = given ?? secretRules()

  async function begin(act: Act): Promise<string> {
    try {
      return await beginAction(db, { ...act, reason: cleaned(act.reason), request: requestText(act.request, rules) })
    } catch (error) {
      const { code, message } = toCpError(error)
      const isOld = code === 'schema_mismatch'
      throw new CpError(
        isOld ? code : 'unavailable',
        `nothing was done, because it cannot be put on record: ${message}; ${isOld ? 'run "noetl-cp migrate"' : 'try again when the database is back'}`,
        { cause: error },
      )
    }
  }

  async function end(id: string, outcome: ActionOutcome, error: string | null, about?: ActionTarget): Promise<void> {
    await endAction(db, id, outcome, error, about).catch((failure: unknown) => onUnfinished(toCpError(failure)))
    onRecorded?.(id)
  }

  function cleaned(text: string | null): string | null {
    return text === null ? null : redactText(text, rules).slice(0, TEXT_MAX)
  }

  return {
    around: async (act, work, aboutOf) => {
      const id = await begin(act)
      onRecorded?.(id)
      try {
        const done = await work()
        await end(id, 'done', null, aboutOf?.(done))
        return done
      } catch (thrown) {
        const error = toCpError(thrown)
        await end(id, MISTAKES_OF_OURS.has(error.code) ? 'failed' : 'refused', cleaned(error.message))
        throw thrown
      }
    },
  }
}

/** With these it is not known, or not said, that nothing was done. */
const MISTAKES_OF_OURS: ReadonlySet<string> = new Set([
  ...['unavailable', 'timeout', 'overloaded', 'cancelled', 'corrupt', 'schema_mismatch', 'config', 'internal'],
])

function requestText(request: JsonValue, rules: SecretRules): string | null {
  if (request === null) return null
  const text = writeJson(redact(request, rules))
  return text.length <= REQUEST_MAX ? text : writeJson({ cut: true, characters: text.length })
}
