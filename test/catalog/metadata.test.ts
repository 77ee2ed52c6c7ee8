// Promise: whoever checks a document is told everything that registration would refuse, the schedule and what follows a
// failure included, each with its place; nothing is refused afterwards that was called valid.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cli } from '../support/cli.js'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-metadata-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function playbook(metadata: string): Promise<string> {
  const file = join(folder, 'playbook.yaml')
  const head = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: a/t, ${metadata}}\n`
  await writeFile(file, `${head}workflow:\n- {step: end, tool: {kind: noop}}\n`)
  return file
}

it.each([
  ['schedule: {cron: "61 * * * *"}', '/metadata/schedule', 'minute'],
  ['schedule: {cron: "0 7 * * *", timezone: Mars/North}', '/metadata/schedule', 'Mars/North'],
  ['schedule: {timezone: UTC}', '/metadata/schedule/cron', 'is missing'],
  ['schedule: {cron: "0 7 * * *", overlap: maybe}', '/metadata/schedule/overlap', 'must be one of allow, skip'],
  ['on_failure: {webhook: nowhere}', '/metadata/on_failure', 'must begin with http'],
  ['on_failure: {playbook: a/b, payload: 5}', '/metadata/on_failure/payload', 'must be a map'],
])('%s', async (metadata, pointer, message) => {
  const file = await playbook(metadata)
  const ran = await cli(['catalog', 'validate', file, '--json'])
  expect(ran.code).toBe(4)
  expect(JSON.parse(ran.stdout)).toMatchObject({
    valid: false,
    problems: [{ pointer, severity: 'error', message: expect.stringContaining(message) }],
  })
  expect(await cli(['run', file, '--dry-run'])).toMatchObject({ code: 2 })
})

it('calls what is right valid', async () => {
  const file = await playbook('schedule: {cron: "0 7 * * 1-5", timezone: Europe/Zurich}, on_failure: ops/page')
  expect(await cli(['catalog', 'validate', file])).toMatchObject({ code: 0 })
  expect(await cli(['run', file, '--dry-run'])).toMatchObject({ code: 0 })
})
