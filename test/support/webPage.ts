// A page of the console in the browser of the run. Whatever a page must never do is collected while a test uses it:
// requests to other origins, refusals by the content policy, errors on its console.
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, inject } from 'vitest'

export interface WebPage {
  page: Page
  context: BrowserContext
  /** What the page and the other tabs of its context have done wrong so far. */
  faults(): string[]
  close(): Promise<void>
}

export const hasBrowser = inject('browser') !== ''

const PATIENCE_MS = 60_000

/** Another screen of the console that is open: within the page, which is much quicker than to load it anew; it is drawn then. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate(`new Promise((drawn) => {
    history.pushState(null, '', ${JSON.stringify(address)})
    dispatchEvent(new PopStateEvent('popstate'))
    requestAnimationFrame(() => requestAnimationFrame(drawn))
  })`)
}

export function useBrowser(): { open(origin: string, options?: BrowserContextOptions): Promise<WebPage> } {
  let browser: Browser | undefined
  const contexts: BrowserContext[] = []
  beforeAll(async () => {
    if (hasBrowser) browser = await chromium.connect(inject('browser'))
  })
  afterAll(async () => {
    for (const context of contexts) await context.close()
    await browser?.close()
  })
  return {
    open: async (origin, options = {}) => {
      const context = await browser!.newContext({ baseURL: origin, viewport: { width: 1280, height: 800 }, ...options })
      contexts.push(context)
      context.setDefaultTimeout(PATIENCE_MS)
      const faults: string[] = []
      // A refused request of the page itself is its business; the browser repeats each on the console.
      context.on('console', (message) => {
        if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(message.text())
      })
      context.on('weberror', (thrown) => {
        const error = thrown.error()
        faults.push(`${error.message}\n${error.stack ?? ''}`)
      })
      context.on('request', (request) => {
        const url = new URL(request.url())
        if (url.origin !== origin && !/^(data|blob):$/.test(url.protocol)) faults.push(`a request to ${request.url()}`)
      })
      const page = await context.newPage()
      return { page, context, faults: () => faults, close: () => context.close() }
    },
  }
}
