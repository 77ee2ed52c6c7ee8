// What is going on, on one line of the terminal, for runs that take a while. Nothing at all in a pipe.
import { printable } from '../runtime/printable.js'
import type { CommandContext } from './command.js'

const EVERY_MS = 500

export interface Progress {
  report(count: number): void
  end(): void
}

const WAITED_MS = 1_000

/** Tells what is going on, and for how long, once it has taken a second. Answers how to end it. */
export function tellWaiting(context: CommandContext, what: () => string): () => void {
  const { stderr } = context.io
  if (!isWatched(context)) return () => undefined
  const started = performance.now()
  let isShown = false
  const timer = setInterval(() => {
    isShown = true
    const seconds = Math.round((performance.now() - started) / 1_000)
    stderr.write(`\r${printable(what())}, ${seconds} s \x1b[K`)
  }, WAITED_MS)
  return () => {
    clearInterval(timer)
    if (isShown) stderr.write('\r\x1b[K')
    isShown = false
  }
}

function isWatched({ io, isQuiet, isJson }: CommandContext): boolean {
  return io.stderr.isTTY === true && !isQuiet && !isJson
}

export function createProgress(context: CommandContext, what: string): Progress {
  const { stderr } = context.io
  if (!isWatched(context)) return { report: () => undefined, end: () => undefined }
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
