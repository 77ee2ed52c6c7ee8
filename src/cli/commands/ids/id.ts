// Ids without any server: minting for scripts and tests, and taking one apart.
import { randomInt } from 'node:crypto'
import { wireTimeFromMillis } from '../../../domain/events/wireTime.js'
import { createIdGenerator } from '../../../domain/ids/idGenerator.js'
import { parseInt64 } from '../../../domain/ids/ids.js'
import { MACHINE_ID_MAX, ONE_SHOT_MACHINE_ID_MIN } from '../../../domain/ids/machineId.js'
import { inspectSnowflake, type Snowflake } from '../../../domain/ids/snowflake.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { systemClock } from '../../../runtime/clock.js'
import type { CommandSpec } from '../../command.js'
import { integerOption } from '../../options.js'

const COUNT_MAX = 100_000

export const idNew: CommandSpec = {
  path: ['id', 'new'],
  localBecause: 'it mints ids under a machine id of its own, leased from the database or not at all',
  summary: 'Mint ids without a server',
  description:
    'Mints 64-bit ids. Without a database there is no leased machine id, so a random one of 1008..1023 is used: fine for scripts and tests, not for several writers at high rates.',
  options: [{ flags: '--count <n>', help: `how many, up to ${COUNT_MAX}`, default: '1' }],
  examples: [
    ['id new', 'one id'],
    ['id new --count 3', 'three, in increasing order'],
  ],
  run: async (_, input) => {
    const count = integerOption(input, 'count', { min: 1, max: COUNT_MAX }) ?? 1
    const machineId = randomInt(ONE_SHOT_MACHINE_ID_MIN, MACHINE_ID_MAX + 1)
    const ids = createIdGenerator({ machineId, now: systemClock.now }).next(count)
    return {
      json: { machine_id: machineId, ids },
      blocks: [{ kind: 'lines', lines: ids }],
      notes: [`minted with the random machine id ${machineId}; the daemon leases one of its own`],
    }
  },
}

export const idInspect: CommandSpec = {
  path: ['id', 'inspect'],
  localBecause: 'it needs no instance',
  summary: 'Take an id apart: time, machine, sequence',
  description:
    'Shows when and by which machine an id was minted. Recognises ids of the database function noetl.snowflake_id(), which have another layout.',
  args: [{ name: 'id', help: 'a 64-bit id' }],
  examples: [
    ['id inspect 320816801799737344', 'one id'],
    ['id inspect 320816801799737344 --json', 'for programs'],
  ],
  run: async (_, { args }) => {
    const id = parseInt64(args['id'], 'id')
    const { alternative, ...found } = inspectSnowflake(BigInt(id), systemClock.now())
    const json: JsonObject = { id, ...describe(found) }
    if (alternative !== undefined) json['alternative'] = describe(alternative)
    return {
      json,
      blocks: [{ kind: 'record', entries: Object.entries({ id, ...describe(found) }) }],
      notes:
        alternative === undefined
          ? []
          : [`it could also be an id of layout ${alternative.layout}, minted at ${describe(alternative).timestamp}`],
    }
  },
}

function describe(snowflake: Snowflake) {
  return {
    timestamp: wireTimeFromMillis(snowflake.unixMs),
    machine_id: snowflake.machineId,
    sequence: snowflake.sequence,
    layout: snowflake.layout,
  }
}
