// Nothing is done to many without a yes: of a person who has seen what it would do, or of a script that knows how many.
import { createInterface } from 'node:readline/promises'
import { CpError } from '../../../errors.js'
import { systemClock } from '../../../runtime/clock.js'
import type { CommandContext, Input } from '../../command.js'
import { print, printLines } from '../../io.js'
import { integerOption, isSet } from '../../options.js'
import type { Output } from '../../output.js'
import { render } from '../../render.js'
import type { BulkPlan } from './bulkPlan.js'

/** From here on a yes is not enough: whoever means so many knows the number. */
const TYPED_ABOVE = 100

export async function agreeTo(
  context: CommandContext,
  input: Input,
  shown: Output,
  { matched, more }: BulkPlan,
  action: string,
): Promise<void> {
  const expected = integerOption(input, 'expect', { min: 0, max: Number.MAX_SAFE_INTEGER })
  if (expected !== undefined && (expected !== matched || more)) {
    throw new CpError('refused', `${more ? 'more than ' : ''}${matched} match, not ${expected}; nothing was done`)
  }
  if (isSet(input, 'yes')) {
    if (expected !== undefined || matched <= TYPED_ABOVE) return
    throw new CpError('invalid_input', `${matched} executions match: add --expect ${matched} to ${action} so many`)
  }
  const { io, isJson } = context
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true || isJson) {
    throw new CpError(
      'invalid_input',
      `this would ${action} ${matched} executions; add --yes to do it, or --dry-run to look`,
    )
  }
  const options = { json: false, color: false, width: io.stderr.columns, nowMs: systemClock.now() }
  printLines(io.stderr, render(shown, options).split('\n'))
  for (const note of shown.notes ?? []) print(io.stderr, note)
  const isTyped = matched > TYPED_ABOVE
  const answer = await ask(context, isTyped ? `Type ${matched} to ${action} them: ` : `${action} ${matched}? [y/N] `)
  if (isTyped ? answer.trim() === String(matched) : /^\s*y(es)?\s*$/i.test(answer)) return
  throw new CpError('refused', 'nothing was done')
}

async function ask({ io }: CommandContext, question: string): Promise<string> {
  const asking = createInterface({ input: io.stdin, output: io.stderr })
  try {
    return await asking.question(question)
  } finally {
    asking.close()
  }
}
