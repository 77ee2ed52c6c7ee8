// Starts one Chromium for all files of the project `web`; each opens contexts of its own in it. Where there is none, the
// files skip themselves by name, except in CI, where that is a failure.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { findChromium, INSTALL_CHROMIUM } from './chromium.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of the browser; empty if there is none. */
    browser: string
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const executablePath = findChromium()
  if (executablePath === undefined) {
    if (process.env['CI'] === 'true') throw new Error(`no Chromium for the browser tests: ${INSTALL_CHROMIUM}`)
    project.provide('browser', '')
    return undefined
  }
  // In a process of its own: every word between tests and browser goes through it, and this one compiles for all of them.
  const server = fork(fileURLToPath(new URL('./browserServer.mjs', import.meta.url)), [executablePath])
  const ended = once(server, 'exit')
  const address = await Promise.race([once(server, 'message'), ended.then(() => undefined)])
  if (address === undefined) throw new Error(`Chromium at ${executablePath} did not start; its output is above`)
  project.provide('browser', String(address[0]))
  return async () => {
    server.send('close')
    await ended
  }
}
