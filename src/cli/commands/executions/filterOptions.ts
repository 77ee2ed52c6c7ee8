// Which executions: the options that the list and acts on many share.
import type { WireTime } from '../../../domain/events/wireTime.js'
import { TERMINAL_STATUSES } from '../../../domain/executions/executionStatus.js'
import { readLabelTexts } from '../../../domain/executions/labels.js'
import { severalOf } from '../../../domain/executions/listFilter.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { CpError } from '../../../errors.js'
import type { Input, OptionSpec } from '../../command.js'
import { parseDuration, parseInstant } from '../../duration.js'
import { listOption, textOption } from '../../options.js'
import type { FilterAsked } from '../../remote/executions.js'

const STATUSES: readonly string[] = ['UNKNOWN', 'RUNNING', ...TERMINAL_STATUSES]

export const FILTER_OPTIONS: readonly OptionSpec[] = [
  { flags: '--status <status>', help: `${STATUSES.join(', ')}; several with commas`, completes: STATUSES },
  { flags: '--path <path>', help: 'catalog path; a star at the end stands for any rest', completes: 'path' },
  { flags: '--since <time>', help: 'started at or after: a time, a date, or a span before now such as 2h' },
  { flags: '--until <time>', help: 'started before' },
  { flags: '--q <text>', help: 'text in path, step or error; the name of a worker; or an id' },
  { flags: '--parent <id>', help: 'children of this execution', completes: 'execution' },
  { flags: '--step <name>', help: 'at this step, or ended there' },
  { flags: '--tenant <id>', help: 'of this tenant' },
  { flags: '--label <key=value>', help: 'with this label, as given at its start', isRepeatable: true },
  { flags: '--worker <id>', help: 'holds, or held, one of its commands' },
  { flags: '--longer-than <span>', help: 'lasts, or lasted, at least so long, such as 90s or 2h' },
  { flags: '--shorter-than <span>', help: 'at most so long' },
]

/** What was asked for, in values of the read model. */
export function readFilter(input: Input, nowMs: number): FilterAsked {
  const parent = textOption(input, 'parent')
  return {
    statuses: readStatuses(input),
    parentExecutionId: parent === undefined ? null : parseExecutionId(parent, 'parent'),
    step: textOption(input, 'step') ?? null,
    tenantId: textOption(input, 'tenant') ?? null,
    secondsMin: seconds(input, 'longer-than'),
    secondsMax: seconds(input, 'shorter-than'),
    labels: readLabelTexts(listOption(input, 'label'), '--label') ?? null,
    workerId: textOption(input, 'worker') ?? null,
    text: textOption(input, 'q'),
    path: textOption(input, 'path'),
    since: instant(input, 'since', nowMs),
    until: instant(input, 'until', nowMs),
  }
}

function readStatuses(input: Input): string[] | null {
  const given = severalOf(textOption(input, 'status')?.toUpperCase())
  return (
    given?.map((text) => {
      const status = text === 'CANCELED' ? 'CANCELLED' : text
      if (STATUSES.includes(status)) return status
      throw new CpError('invalid_input', `--status must be one of ${STATUSES.join(', ')}, not ${JSON.stringify(text)}`)
    }) ?? null
  )
}

function seconds(input: Input, name: string): number | null {
  const text = textOption(input, name)
  return text === undefined ? null : parseDuration(text, `--${name}`) / 1000
}

function instant(input: Input, name: string, nowMs: number): WireTime | null {
  const text = textOption(input, name)
  return text === undefined ? null : parseInstant(text, `--${name}`, nowMs)
}
