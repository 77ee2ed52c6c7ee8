// What goes wrong with a template. A Fault says why and is thrown where it happens; the template turns it into a
// TemplateError, which also says where. Nothing else may leave a template, whatever was written into it.

import { CpError } from '../../errors.js'

/** A reason without a place. Never leaves this folder. */
export class Fault extends Error {}

export class TemplateError extends CpError {
  constructor(
    readonly why: string,
    /** Index of the character in the template. */
    readonly offset: number,
    /** The first characters from there. */
    readonly near: string,
  ) {
    super('invalid_input', `template error at character ${offset + 1}: ${why} near ${JSON.stringify(near)}`, {
      details: { offset, near },
    })
    this.name = 'TemplateError'
  }
}

const NEAR_CHARACTERS = 20

export function templateError(why: string, text: string, offset: number): TemplateError {
  const from = Math.max(0, Math.min(offset, text.length))
  return new TemplateError(why, from, text.slice(from, from + NEAR_CHARACTERS))
}

export function fault(why: string): never {
  throw new Fault(why)
}
