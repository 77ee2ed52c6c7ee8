// Promise: of kinds that are processes no more run at a time than may; who waits is served in order, does not use up its
// time, and leaves when it is cancelled.
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ToolFailure } from '../../src/domain/tool/toolFailure.js'
import { useTools } from '../support/toolRunner.js'
import { until } from '../support/until.js'

const tools = useTools({ processesMax: 2 })

/** Says that it runs, and ends when it may. */
const step = (name: string, more: object = {}) => ({
  kind: 'shell',
  command: `touch ${tools.folder}/on-${name}; while ! test -e ${tools.folder}/go-${name}; do sleep 0.02; done; rm ${tools.folder}/on-${name}`,
  ...more,
})
const go = (name: string) => writeFile(join(tools.folder, `go-${name}`), '')
const running = async () => (await readdir(tools.folder)).filter((file) => file.startsWith('on-')).sort()

it('runs two at a time, in order, and lets go of one that is cancelled while it waits', async () => {
  const cancelled = new AbortController()
  const runs = ['a', 'b'].map((name) => tools.tool(step(name)))
  await until('two run', async () => (await running()).length === 2)
  const third = tools.tool(step('c'), { options: { signal: cancelled.signal } })
  // Shorter than it must wait: its time begins with its turn.
  const fourth = tools.tool({ kind: 'shell', command: `touch ${tools.folder}/on-d`, timeout: 5 })
  cancelled.abort(new ToolFailure('cancelled', 'the execution was cancelled'))
  expect((await third).error).toMatchObject({ kind: 'cancelled' })
  expect(await running()).toEqual(['on-a', 'on-b'])
  await go('a')
  expect((await fourth).error).toBeUndefined()
  expect(await running()).toEqual(['on-b', 'on-d'])
  await go('b')
  expect((await Promise.all(runs)).map(({ status }) => status)).toEqual(['success', 'success'])
  await rm(join(tools.folder, 'on-d'))
})
