// The name under which a stored result is known: `noetl://execution/<id>/result/<name>/<id>`.
import { CpError } from '../../errors.js'

export interface ResultRef {
  executionId: string
  resultId: string
}

const FORM = /^noetl:\/\/execution\/(\d{1,19})\/result\/([^/]{1,1024})\/(\d{1,19})$/

export function resultRef(executionId: string, name: string, resultId: string): string {
  return `noetl://execution/${executionId}/result/${encodeURIComponent(name)}/${resultId}`
}

export function parseResultRef(text: string): ResultRef {
  const [, executionId, , resultId] = FORM.exec(text) ?? []
  if (executionId === undefined || resultId === undefined) {
    throw new CpError(
      'invalid_input',
      `${JSON.stringify(text.slice(0, 120))} is no reference to a result; they look like noetl://execution/<id>/result/<name>/<id>`,
    )
  }
  return { executionId, resultId }
}

/** Undefined for any other kind of text. */
export function resultRefOf(text: string): ResultRef | undefined {
  return FORM.test(text) ? parseResultRef(text) : undefined
}

/** What a sealed result is bound to. */
export function resultSealPlace({ executionId, resultId }: ResultRef): string {
  return `result ${resultId} of execution ${executionId}`
}
