// A counter on one line of the terminal, for runs that take a while. Nothing at all in a pipe.
import type { CommandContext } from './command.js'

const EVERY_MS = 500

export interface Progress {
  report(count: number): void
  end(): void
}

export function createProgress(context: CommandContext, what: string): Progress {
  const { stderr } = context.io
  if (stderr.isTTY !== true || context.isQuiet) return { report: () => undefined, end: () => undefined }
  const started = performance.now()
  let shownAt = started
  let isShown = false
  return {
    report: (count) => {
      const now = performance.now()
      if (now - shownAt < EVERY_MS) return
      shownAt = now
      isShown = true
      stderr.write(`\r${count} ${what}, ${Math.round(count / ((now - started) / 1000))}/s \x1b[K`)
    },
    end: () => {
      if (isShown) stderr.write('\r\x1b[K')
    },
  }
}
