// Errors of templates with the place where the template stands.

import { TemplateError } from '../template/templateError.js'
import { engineError, StepFailure } from './engineError.js'

/** Runs it; an error of a template becomes a failure of the step that names the place, which may have to be looked for. */
export function placed<T>(place: string | ((error: TemplateError) => string), run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const pointer = typeof place === 'string' ? place : place(error)
    throw new StepFailure(engineError('template', `template error at ${pointer}: ${whyOf(error)}`))
  }
}

export function whyOf(error: TemplateError): string {
  return `${error.why} near ${JSON.stringify(error.near)}`
}
