// The scrubber in a browser as a reader has it: NOETL_TEST_CHROMIUM, or the Chromium of this machine.
import { chromium } from 'playwright-core'

const OPEN_MS = 60_000

export async function openBrowser() {
  const executablePath = process.env.NOETL_TEST_CHROMIUM || '/usr/bin/chromium'
  return chromium.launch({ executablePath, args: process.getuid() === 0 ? ['--no-sandbox'] : [] })
}

/** A page that was just opened, and the milliseconds from the navigation to the frame after it had such an element. */
export async function openPage(browser, address, selector) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.addInitScript((wanted) => {
    globalThis.painted = new Promise((resolve) => {
      const look = () => {
        if (document.querySelector(wanted) === null) requestAnimationFrame(look)
        else requestAnimationFrame(() => resolve(performance.now()))
      }
      look()
    })
  }, selector)
  await page.goto(address)
  return { page, ms: await page.evaluate(() => globalThis.painted) }
}

/** The page of an execution, when its timeline was there and when the state at its end. */
export async function openScrubber(browser, url, id, query = '') {
  const { page, ms: paintMs } = await openPage(browser, `${url}/console/executions/${id}${query}`, '.timeline canvas')
  await page.locator('.moment[aria-busy=false]').waitFor({ timeout: OPEN_MS })
  return { page, paintMs, ms: await page.evaluate(() => performance.now()) }
}

/** Milliseconds from the pointer to the exact state on the screen, for so many places. */
export function measureJumps(page, count) {
  return page.evaluate(async (rounds) => {
    const track = document.querySelector('[role=slider]')
    const { left, width, top } = track.getBoundingClientRect()
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const took = []
    for (let round = 0; round < rounds; round++) {
      const clientX = left + (((round + 1) * 0.618) % 1) * width
      const before = track.getAttribute('aria-valuenow')
      const started = performance.now()
      track.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY: top + 5, buttons: 1, bubbles: true }))
      do await frame()
      while (
        track.getAttribute('aria-valuenow') === before ||
        document.querySelector('.moment[aria-busy=false]') === null
      )
      took.push(performance.now() - started)
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    return took
  }, count)
}

const MOVES = {
  drag: (share) => {
    const track = document.querySelector('[role=slider]')
    const { left, width, top } = track.getBoundingClientRect()
    const clientX = left + share * width
    track.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY: top + 5, buttons: 1, bubbles: true }))
  },
  pan: (share) => {
    const key = Math.floor(share * 1_000) % 2 === 0 ? 'd' : 'a'
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
  },
}

/**
 * Milliseconds of script in each frame of a drag or a pan, as the browser counts them: handlers, drawing, and what the
 * daemon answers meanwhile.
 */
export async function measureFrames(page, move, count) {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const run = (expression) => session.send('Runtime.evaluate', { expression, awaitPromise: true })
  const scriptMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'ScriptDuration').value * 1_000
  }
  await run(`globalThis.moveOnce = (share) => new Promise((resolve) => requestAnimationFrame(() => {
    (${MOVES[move]})(share)
    requestAnimationFrame(resolve)
  }))`)
  const took = []
  for (let round = 0; round < count; round++) {
    const before = await scriptMs()
    await run(`moveOnce(${(round + 1) / (count + 1)})`)
    took.push((await scriptMs()) - before)
  }
  await session.detach()
  return took
}
