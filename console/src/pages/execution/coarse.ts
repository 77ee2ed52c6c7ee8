// A long log before all of it is here: the daemon has counted what happened in each part of it, and the screen gets a tape
// whose bars are those parts. It is replaced as soon as the events are there.
import { FAILED_FLAG, OUTCOMES, type Tape } from '../../../../src/domain/tape/decodeTape.js'

const [COMPLETED, FAILED, CANCELLED] = [1, 2, 3]

export function fromCoarse({ head, columns }: Tape): Tape {
  const length = head.to
  const starts = columns['bucket_from']!
  const time = new Float64Array(length)
  const flags = new Uint8Array(length)
  const [nothing, noVersion] = [new Uint8Array(length), new Uint32Array(length)]
  starts.forEach((start, bucket) => {
    time.fill(columns['bucket_time']![bucket]!, start - 1, (starts[bucket + 1] ?? length + 1) - 1)
    if (columns['bucket_failed']![bucket]! > 0) flags[start - 1] = FAILED_FLAG
  })
  // Steps are numbered as they first appear, which is how the whole tape has them.
  const rows = head.rows.map((step, row) => ({ step, row })).sort((left, right) => left.step - right.step)
  const spans = rows.flatMap(({ step, row }) => partsOf(columns, row, length).map((part) => ({ step, ...part })))
  const ofSpans = (of: (span: (typeof spans)[number]) => number): Uint32Array => Uint32Array.from(spans, of)
  const begins = ofSpans(({ from }) => from)
  return {
    // Events are not told apart; what there is of them can be asked for.
    head: { ...head, types: ['…', ...head.types.slice(1)] },
    columns: {
      type: nothing,
      step: nothing,
      status: nothing,
      worker: nothing,
      span: nothing,
      version: noVersion,
      flags,
      time,
      span_kind: new Uint8Array(spans.length),
      span_key: ofSpans(({ step }) => step),
      span_row: ofSpans(({ step }) => step),
      span_issued: begins,
      span_claimed: begins,
      span_started: begins,
      span_ended: ofSpans(({ to }) => to),
      span_outcome: Uint8Array.from(spans, ({ outcome }) => outcome),
    },
    keys: () => head.steps.map((step) => `step:${step}`),
  }
}

interface Part {
  from: number
  /** 0: it goes on. */
  to: number
  outcome: number
}

/** Where a row was at work; parts beside each other that ended alike are one, the worst counts. */
function partsOf(columns: Tape['columns'], row: number, length: number): Part[] {
  const { bucket_from: starts, row_begun, row_completed, row_failed, row_cancelled } = columns
  const parts: Part[] = []
  let open = 0
  starts!.forEach((from, bucket) => {
    const at = row * starts!.length + bucket
    const [begun, failed, cancelled] = [row_begun![at]!, row_failed![at]!, row_cancelled![at]!]
    const ended = row_completed![at]! + failed + cancelled
    const isAtWork = open + begun + ended > 0
    open = Math.max(0, open + begun - ended)
    if (!isAtWork) return
    const to = bucket + 1 < starts!.length ? starts![bucket + 1]! - 1 : open > 0 ? 0 : length
    const outcome = to === 0 ? OUTCOMES.indexOf('open') : failed > 0 ? FAILED : cancelled > 0 ? CANCELLED : COMPLETED
    const last = parts.at(-1)
    if (last?.to === from - 1 && last.outcome === outcome) last.to = to
    else parts.push({ from, to, outcome })
  })
  return parts
}
