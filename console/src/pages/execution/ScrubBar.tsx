// Above the bar: what happened at the handle, and the ways to another moment or another view of the run.

import { useRef } from 'preact/hooks'
import { counted } from '../../lib/counted'
import { ask } from '../../lib/router'
import { clockText, whole } from '../../lib/time'
import { Glyph } from '../../parts/Status'
import { type Axis, showNextAxis } from './axis'
import { isFollowing, isPlaying, pin, togglePin } from './cursor'
import { Jump } from './Jump'
import { chosenLanes, LANES } from './lanes'
import { SPEEDS, type Speed, speed, togglePlay } from './play'
import type { Moment, RunTape } from './tape'

interface ScrubBarProps {
  run: RunTape
  axis: Axis
  position: number
  /** What happened there; undefined: nothing, or it is not known yet. */
  moment: Moment | undefined
  version: number | undefined
  go: (to: number) => void
  /** The next or the previous one; undefined where nothing has failed. */
  toFailure: ((by: 1 | -1) => void) | undefined
}

export function ScrubBar({ run, axis, position, moment, version, go, toFailure }: ScrubBarProps) {
  const { length, total } = run
  // How long the log was when the handle left its end.
  const leftAt = useRef(total)
  if (isFollowing()) leftAt.current = total
  const news = total - leftAt.current
  return (
    <div class="scrub-bar">
      <button
        type="button"
        class="play"
        aria-label={isPlaying.value ? 'Stop' : 'Play'}
        title="Play or stop (Space)"
        onClick={() => togglePlay(run, position, go)}
      >
        <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
          <path d={isPlaying.value ? 'M4 3h3v10H4zM9 3h3v10H9z' : 'M4 2.5v11l9-5.5z'} fill="currentColor" />
        </svg>
      </button>
      <Choice
        label="Speed of playing"
        options={SPEEDS}
        chosen={speed.value}
        onChoose={(id) => {
          speed.value = id as Speed
        }}
      />
      {toFailure !== undefined && (
        <span class="scrub-failures">
          <button
            type="button"
            class="quiet"
            aria-label="Previous failure"
            title="Previous failure (p)"
            onClick={() => toFailure(-1)}
          >
            ‹
          </button>
          <Glyph kind="failed" />
          <button
            type="button"
            class="quiet"
            aria-label="Next failure"
            title="Next failure (n)"
            onClick={() => toFailure(1)}
          >
            ›
          </button>
        </span>
      )}
      <span class="scrub-place">
        <b>{whole(position)}</b> <span class="muted">of {whole(total)}</span>
      </span>
      <Here position={position} moment={moment} version={version} />
      <span class="scrub-tools">
        <Jump run={run} go={go} />
        {!isFollowing() && (
          <button type="button" onClick={() => go(length)}>
            {news > 0 ? `+${counted(news, 'event')}, jump to now` : 'Jump to now'}
          </button>
        )}
        <button
          type="button"
          aria-pressed={pin.value !== undefined}
          title="Compare with this moment (m)"
          onClick={() => togglePin(position)}
        >
          {pin.value === undefined ? 'Pin' : `Pinned at ${whole(pin.value)}`}
        </button>
        <Choice
          label="Rows"
          options={LANES}
          chosen={chosenLanes()}
          onChoose={(id) => ask({ lanes: id === 'step' ? undefined : id }, { replace: true })}
        />
        <button
          type="button"
          title="Axis by event, by time, or by time at work: pauses shortened (e)"
          onClick={showNextAxis}
        >
          by {axis.kind}
        </button>
      </span>
    </div>
  )
}

function Here({ position, moment, version }: Pick<ScrubBarProps, 'position' | 'moment' | 'version'>) {
  if (moment === undefined)
    return <span class="scrub-event muted">{position === 0 ? 'before the first event' : '…'}</span>
  return (
    <span class="scrub-event">
      <span class={moment.isFailure ? 'failed' : ''}>{moment.type}</span>
      {moment.isLate && <span class="waiting">arrived late</span>}
      {moment.step !== null && <b>{moment.step}</b>}
      <span class="muted mono" title={clockText(moment.at, 3)}>
        {clockText(moment.at, 3).slice(11)}
      </span>
      {version !== undefined && version !== 0 && version !== position && (
        <span class="muted">version {whole(version)}</span>
      )}
    </span>
  )
}

interface ChoiceProps {
  label: string
  /** Name by id. */
  options: Readonly<Record<string, string>>
  chosen: string
  onChoose: (id: string) => void
}

/** Who has chosen goes on with the keys of the screen. */
function Choice({ label, options, chosen, onChoose }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={chosen}
      onChange={({ currentTarget }) => {
        onChoose(currentTarget.value)
        currentTarget.blur()
      }}
    >
      {Object.entries(options).map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}
