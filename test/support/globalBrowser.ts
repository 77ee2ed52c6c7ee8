// Starts one Chromium for all files of the project `web`; each opens contexts of its own in it. Where there is none, the
// files skip themselves by name, except in CI, where that is a failure.
import { chromium } from 'playwright-core'
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
  const server = await chromium.launchServer({
    executablePath,
    headless: true,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  project.provide('browser', server.wsEndpoint())
  return () => server.close()
}
