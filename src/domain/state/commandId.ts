// The text by which a command is known: `<execution>:<step>:<visit>` and, for one of several, a suffix. The same state
// gives the same text, so deciding again never makes a second command. Workers echo it and never read it.

/**
 * `i3`: item 3 of a list. `c2`: the claim of frame 2. `b2.5`: row 5 of frame 2, `b2.5r2` when it runs for the second
 * time. Empty for a step without a loop.
 */
export type CommandSuffix = string

export interface CommandPlace {
  visit: number
  suffix: CommandSuffix
}

export function commandIdText(executionId: string, step: string, { visit, suffix }: CommandPlace): string {
  const id = `${executionId}:${step}:${visit}`
  return suffix === '' ? id : `${id}:${suffix}`
}

/** Undefined: it is not a command of this step. */
export function parseCommandId(executionId: string, step: string, text: string): CommandPlace | undefined {
  const prefix = `${executionId}:${step}:`
  if (!text.startsWith(prefix)) return undefined
  const match = PLACE.exec(text.slice(prefix.length))
  if (match === null) return undefined
  return { visit: Number(match[1]), suffix: match[2] ?? '' }
}

const PLACE = /^([1-9][0-9]{0,8})(?::((?:i|c)[0-9]{1,9}|b[0-9]{1,9}\.[0-9]{1,9}(?:r[0-9]{1,3})?))?$/
