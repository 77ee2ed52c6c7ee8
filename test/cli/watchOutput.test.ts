// Promise: what is watched is drawn in one place on a terminal, one line each as JSON, goes on through an outage, and ends with
// the first signal or when nobody reads any more.
import { EventEmitter } from 'node:events'
import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { CommandContext } from '../../src/cli/command.js'
import type { Output } from '../../src/cli/output.js'
import { watchOutput } from '../../src/cli/watchOutput.js'
import { CpError } from '../../src/errors.js'

function watched(options: { isTTY?: boolean; isJson?: boolean; breaks?: boolean }) {
  const signals = new EventEmitter()
  let text = ''
  const stdout = Object.assign(
    new Writable({
      write: (chunk, _, done) => {
        text += String(chunk)
        done(options.breaks === true ? new Error('EPIPE') : null)
      },
    }),
    { isTTY: options.isTTY ?? false, columns: 40 },
  )
  stdout.on('error', () => undefined)
  const io = Object.assign(signals, { stdout })
  return {
    context: { io, env: {}, isJson: options.isJson ?? false } as unknown as CommandContext,
    signals,
    text: () => text,
  }
}

const output: Output = { json: { up: true }, blocks: [{ kind: 'text', text: 'all is well' }] }

describe('what is watched', () => {
  it('is drawn in one place on a terminal until the first signal', async () => {
    const { context, signals, text } = watched({ isTTY: true })
    const code = await watchOutput(context, async () => {
      signals.emit('SIGINT')
      return output
    })
    expect([code, text()]).toEqual([0, '\x1b[H\x1b[2Jall is well\n\n'])
  })

  it('is one line each as JSON, also while it cannot be asked', async () => {
    const { context, signals, text } = watched({ isTTY: true, isJson: true })
    await watchOutput(context, async () => {
      signals.emit('SIGTERM')
      throw new CpError('unavailable', 'the daemon does not answer')
    })
    expect(text()).toBe('{"error":"the daemon does not answer"}\n')
  })

  it('ends when nobody reads any more', async () => {
    const { context } = watched({ breaks: true })
    expect(await watchOutput(context, async () => output)).toBe(0)
  })
})
