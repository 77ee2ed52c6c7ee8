// Promise: of every command it is decided whether it changes the installation; one that does is on record.
import { expect, it } from 'vitest'
import { COMMAND_GROUPS } from '../../src/cli/commands/index.js'

/** Look only, or work on files of the caller alone. */
const LOOKS = `activity, bulk list, bulk show, catalog list, catalog get, catalog used-by, catalog validate, command list, command show, complete, completion, config check,
config init, config schema, config show, console, credential list, credential show, doctor, env, events export, events tail, execution list,
execution logs, execution result, execution show, execution watch, id inspect, id new, outbox dead list, outbox list, outbox show, outbox status,
projector quarantine list, replay, replay diff, replay parity, replay step, replay verify, schedule list, schedule next, shard list, shard of,
snapshot list, snapshot show, snapshot verify, state show, state why-stuck, status, subscription dead list, subscription history,
subscription list, subscription show, subscription watch, template eval, version, worker limits, worker list`

/** Act through the API of a daemon, are a daemon, or make and remove the place of the record. */
const ELSEWHERE = 'demo, exec, migrate, run, schema remove, serve, worker'

const named = (text: string): string[] => text.split(/,\s+/)

it('is decided of every command', async () => {
  const specs = (await Promise.all(COMMAND_GROUPS.map(({ load }) => load()))).flat()
  const undecided = specs.filter(({ changes }) => changes === undefined).map(({ path }) => path.join(' '))
  expect(undecided.toSorted()).toEqual([...named(LOOKS), ...named(ELSEWHERE)].toSorted())
})
