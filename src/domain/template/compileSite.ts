// What every part of the compiler needs: the text for messages, the variables, and how to compile a part of the part.

import type { Evaluate } from './run.js'
import type { Scope } from './scope.js'
import type { Arguments, Expression } from './syntax.js'
import { templateError } from './templateError.js'

export interface CompileSite {
  readonly text: string
  readonly scope: Scope
  readonly compile: (expression: Expression, site: CompileSite) => Evaluate
}

export const NOTHING: Evaluate = () => undefined

/** Named arguments take the places of the parameters they name. */
export function bindArguments(
  what: string,
  params: readonly string[],
  required: number,
  args: Arguments,
  at: number,
  site: CompileSite,
): readonly Evaluate[] {
  const places = args.positional.map((argument) => site.compile(argument, site))
  if (places.length > params.length) {
    throw templateError(`${what} takes at most ${params.length} arguments`, site.text, at)
  }
  for (const [name, value] of args.named) {
    const index = params.indexOf(name)
    if (index < 0) throw templateError(`${what} has no argument ${name}`, site.text, at)
    if (places[index] !== undefined) throw templateError(`${what}: ${name} is given twice`, site.text, at)
    places[index] = site.compile(value, site)
  }
  for (let index = 0; index < required; index++) {
    if (places[index] === undefined) throw templateError(`${what} needs ${params[index]}`, site.text, at)
  }
  return Array.from(places, (place) => place ?? NOTHING)
}
