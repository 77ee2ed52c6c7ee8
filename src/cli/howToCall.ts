// The command line with which the person at the terminal reaches the same instance again, for hints that can be
// pasted.
import { basename } from 'node:path'
import type { CommandContext } from './command.js'

/** Our name when we were found on PATH, else the way to this very script; with the data folder if it was chosen. */
export function howToCall(context: CommandContext, command: string): string {
  const script = context.io.argv[1]
  const name = script === undefined || basename(script) === 'noetl-cp' ? 'noetl-cp' : `node ${script}`
  const isChosen = context.config().origins.dataDir.source === 'flag'
  return `${name} ${command}${isChosen ? ` --data-dir ${context.dataDir()}` : ''}`
}
