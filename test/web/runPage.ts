// The page of one execution, for tests that share a daemon with the executions of the demo.
import type { Locator } from 'playwright-core'
import type { Daemon } from '../support/binary.js'
import type { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import type { useBrowser } from '../support/webPage.js'

export interface RunPage {
  daemon(): Daemon
  database: ReturnType<typeof useDatabase>
  browser: ReturnType<typeof useBrowser>
  /** Its answer as JSON. */
  command(...args: string[]): Promise<any>
  /** One that the demo has made. */
  idOf(status: string, path: string): Promise<string>
}

interface LogEvent {
  position: number
  event_id: string
  node_name: string | null
  worker_id: string | null
  event_type: string
  status: string
  timestamp: string
}

export function runPages({ daemon, database, browser }: RunPage) {
  return { openRun, addNote, eventsOf }

  /** The page of a run, with all of its log. */
  async function openRun(id: string, last: number) {
    const opened = await browser.open(daemon().url)
    const { page } = opened
    await page.goto(`/console/executions/${id}`)
    const handle = page.getByRole('slider', { name: 'Position in the log' })
    const place = async () => Number(await handle.getAttribute('aria-valuenow'))
    await until('the log is drawn', async () => (await place()) === last)
    const goTo = async (key: string, expected: number) => {
      await page.keyboard.press(key)
      await until(`position ${expected}`, async () => (await place()) === expected)
    }
    return { ...opened, handle, place, goTo }
  }

  /** One more event of an execution, stored last, as another one of it. */
  async function addNote(id: string, eventId: bigint, like: bigint, result: string | null = null): Promise<void> {
    await database.get().sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, stream_version, event_type, node_name, status, result)
       select execution_id, $2::bigint, catalog_id, (select max(stream_version) + 1 from noetl.event where execution_id = $1::bigint),
         'step.note', node_name, status, $4::jsonb
       from noetl.event where execution_id = $1::bigint and event_id = $3::bigint`,
      [id, String(eventId), String(like), result],
    )
    await database
      .get()
      .sql('update noetl.execution set event_count = event_count + 1 where execution_id = $1::bigint', [id])
  }

  /** Once nothing was added for a second: what was cancelled with a run may be told after its end. */
  function eventsOf(id: string): Promise<LogEvent[]> {
    return until(`the log of ${id} rests`, async () => {
      const events: LogEvent[] = (await daemon().get(`/api/executions/${id}/events`)).body.events
      return Date.now() - Date.parse(events.at(-1)!.timestamp) > 1_000 && events
    })
  }
}

export async function positionsIn(life: Locator): Promise<number[]> {
  return (await life.locator('.number').allTextContents()).map(Number)
}
