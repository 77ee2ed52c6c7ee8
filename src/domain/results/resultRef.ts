// The name under which a stored result is known: `noetl://execution/<id>/result/<name>/<id>`.
import { CpError } from '../../errors.js'
import { fitsInt64 } from '../ids/ids.js'

export interface ResultRef {
  executionId: string
  resultId: string
}

/** In UTF-16 units. */
export const RESULT_NAME_LENGTH_MAX = 255

/** 2,295 characters of a name: each of its 255 units may become three bytes, each byte `%XX`. */
const FORM = /^noetl:\/\/execution\/(\d{1,19})\/result\/[^/]{1,2295}\/(\d{1,19})$/

export function resultRef(executionId: string, name: string, resultId: string): string {
  return `noetl://execution/${executionId}/result/${encodeURIComponent(name)}/${resultId}`
}

export function parseResultRef(text: string): ResultRef {
  const ref = resultRefOf(text)
  if (ref === undefined) {
    throw new CpError(
      'invalid_input',
      `${JSON.stringify(text.slice(0, 120))} is no reference to a result; they look like noetl://execution/<id>/result/<name>/<id>, with ids of up to 64 bits`,
    )
  }
  return ref
}

/** Undefined for any other kind of text. */
export function resultRefOf(text: string): ResultRef | undefined {
  const [, executionId, resultId] = FORM.exec(text) ?? []
  if (executionId === undefined || resultId === undefined) return undefined
  return fitsInt64(executionId) && fitsInt64(resultId) ? { executionId, resultId } : undefined
}

/** What a sealed result is bound to. */
export function resultSealPlace({ executionId, resultId }: ResultRef): string {
  return `result ${resultId} of execution ${executionId}`
}
