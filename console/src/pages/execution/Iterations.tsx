// A loop at one glance: every command of the step that was chosen as a cell, in the order in which they were issued. A click
// chooses one. Who cannot see it has the same as rows inside of the step.
import { useMemo, useState } from 'preact/hooks'
import { counted } from '../../lib/counted'
import { whole } from '../../lib/time'
import { drawCells, fieldOf, thingAt } from './cells'
import { moveTo } from './cursor'
import { choose } from './life'
import { COMMAND, kindAt, type RunTape, spanKey, spanName, standingWord } from './tape'
import { useCanvas } from './useCanvas'

/** One line of large cells, or several. */
const [FEW, LOW, HIGH] = [50, 14, 60]

interface IterationsProps {
  run: RunTape
  /** Such as `step:fetch`. */
  entity: string
  position: number
}

export function Iterations(props: IterationsProps) {
  const { run, entity } = props
  const commands = useMemo(() => {
    const kinds = run.tape.columns['span_kind']!
    const row = run.steps.find(({ key }) => key === entity)
    return row?.spans.filter((span) => kinds[span] === COMMAND) ?? []
  }, [run, entity])
  return commands.length < 2 ? null : <Strip {...props} commands={commands} />
}

function Strip({ run, position, commands }: IterationsProps & { commands: readonly number[] }) {
  const { length } = commands
  const height = length <= FEW ? LOW : HIGH
  const [pointed, setPointed] = useState<number>()
  const kindOf = (index: number) => kindAt(run, commands[index]!, position)
  const canvas = useCanvas(height, (pen) => drawCells(pen, length, kindOf), [run, commands, position])
  const { share } = fieldOf(length, canvas.current?.clientWidth || Number.POSITIVE_INFINITY, height)
  const inCells = share === 1 ? 'one cell each' : `${share} to a cell, which has the look of the worst`
  const commandAt = (event: PointerEvent): number | undefined => {
    const { left, top, width } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return thingAt(fieldOf(length, Math.floor(width), height), length, event.clientX - left, event.clientY - top)
  }
  const text = (index: number): string => {
    const span = commands[index]!
    return `${whole(index + 1)} of ${whole(length)}: ${spanName(run, span)}, ${standingWord(run, [span], kindOf(index))}`
  }
  return (
    <div class="iterations">
      <div
        class="iterations-field"
        aria-hidden="true"
        onPointerMove={(event) => setPointed(commandAt(event))}
        onPointerLeave={() => setPointed(undefined)}
        onPointerDown={(event) => {
          const index = commandAt(event)
          if (index === undefined) return
          choose(spanKey(run, commands[index]!))
          moveTo(run.marks.ended[commands[index]!]! || run.marks.issued[commands[index]!]!, run.length)
        }}
      >
        <canvas ref={canvas} style={{ height: `${height}px` }} />
      </div>
      <p class="muted">
        {pointed === undefined ? `${counted(length, 'command')}, ${inCells}; click one` : text(pointed)}
      </p>
    </div>
  )
}
