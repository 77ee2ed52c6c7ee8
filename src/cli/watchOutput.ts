// Shows an output again and again until it is interrupted: on a terminal in one place, in a pipe one after the other, as JSON
// one line each. What cannot be asked for a while is told and asked again.

import { writeJson } from '../domain/json/write.js'
import { isTransient, toCpError } from '../errors.js'
import { systemClock } from '../runtime/clock.js'
import { printableJson } from '../runtime/printable.js'
import { listenForShutdown } from '../runtime/shutdown.js'
import type { CommandContext } from './command.js'
import { EXIT } from './exit.js'
import { type Stream, wantsColor } from './io.js'
import type { Output } from './output.js'
import { render } from './render.js'

const EVERY_MS = 2_000
const CLEAR = '\x1b[H\x1b[2J'

export async function watchOutput(context: CommandContext, make: () => Promise<Output>): Promise<number> {
  const { stdout } = context.io
  const isTerminal = stdout.isTTY === true
  const options = {
    json: false,
    color: wantsColor(stdout, context.env),
    width: isTerminal ? stdout.columns : undefined,
  }
  const shutdown = listenForShutdown(context.io)
  try {
    while (!shutdown.signal.aborted) {
      const output = await make().catch((error: unknown): Output => {
        if (!isTransient(error)) throw error
        const { message } = toCpError(error)
        return { json: { error: message }, blocks: [{ kind: 'lines', lines: message.split('\n') }] }
      })
      const text = context.isJson
        ? `${printableJson(writeJson(output.json))}\n`
        : `${render(output, { ...options, nowMs: systemClock.now() })}\n`
      // Everything in it has passed the filter for terminals.
      const isGone = await written(stdout, isTerminal && !context.isJson ? `${CLEAR}${text}` : text)
      if (isGone) break
      await systemClock.sleep(EVERY_MS, shutdown.signal)
    }
  } finally {
    shutdown.dispose()
  }
  return EXIT.ok
}

/** Answers whether nobody reads any more. */
function written(stream: Stream, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error !== undefined && error !== null))
  })
}
