// The lifecycle as a small drawing: where the subscription is, and where it can go from there. The buttons below say the
// same in words.
import { kindOf } from '../../parts/Status'
import { type Action, LEADS_TO, STATES, type State } from './subscription'

const WIDTH = 128
const HEIGHT = 32
const PLACES: Readonly<Record<State, readonly [number, number]>> = {
  REGISTERED: [74, 30],
  ACTIVE: [300, 30],
  PAUSED: [526, 30],
  DEACTIVATED: [300, 132],
  DRAINING: [526, 132],
}

interface Arrow {
  from: State
  to: State
  verbs: readonly Action[]
  /** Ends of the line. */
  line: readonly [number, number, number, number]
  /** Middle of the words. */
  at: readonly [number, number]
}

const ARROWS: readonly Arrow[] = [
  { from: 'REGISTERED', to: 'ACTIVE', verbs: ['activate'], line: [138, 30, 234, 30], at: [186, 22] },
  { from: 'REGISTERED', to: 'DEACTIVATED', verbs: ['deactivate'], line: [90, 46, 234, 128], at: [128, 100] },
  { from: 'ACTIVE', to: 'PAUSED', verbs: ['pause'], line: [364, 24, 460, 24], at: [412, 17] },
  { from: 'PAUSED', to: 'ACTIVE', verbs: ['activate', 'resume'], line: [462, 36, 366, 36], at: [412, 11] },
  { from: 'ACTIVE', to: 'DRAINING', verbs: ['drain'], line: [346, 46, 476, 115], at: [444, 80] },
  { from: 'PAUSED', to: 'DEACTIVATED', verbs: ['deactivate'], line: [480, 46, 350, 115], at: [370, 82] },
  { from: 'PAUSED', to: 'DRAINING', verbs: ['drain'], line: [540, 46, 540, 114], at: [562, 84] },
  { from: 'ACTIVE', to: 'DEACTIVATED', verbs: ['deactivate'], line: [306, 46, 306, 114], at: [342, 104] },
  { from: 'DEACTIVATED', to: 'ACTIVE', verbs: ['activate'], line: [286, 116, 286, 48], at: [254, 84] },
  { from: 'DRAINING', to: 'DEACTIVATED', verbs: ['deactivate'], line: [462, 132, 366, 132], at: [412, 125] },
]

export function Machine({ state, allowed }: { state: string; allowed: readonly string[] }) {
  const goals = allowed.map((action) => LEADS_TO[action as Action].toLowerCase())
  const said = [...new Set(goals)].filter((goal) => goal !== state.toLowerCase()).join(', ')
  return (
    <svg
      class="machine"
      viewBox="9 0 582 158"
      role="img"
      aria-label={`Lifecycle: ${state.toLowerCase()}; from here to ${said === '' ? 'nowhere' : said}`}
    >
      <defs>
        <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0l8 4-8 4z" fill="context-stroke" />
        </marker>
      </defs>
      {ARROWS.map(({ from, to, verbs, line: [x1, y1, x2, y2], at: [x, y] }) => {
        const isOpen = from === state && verbs.some((verb) => allowed.includes(verb))
        return (
          <g key={`${from} ${to}`} class={isOpen ? 'way open' : 'way'}>
            <line x1={x1} y1={y1} x2={x2} y2={y2} marker-end="url(#head)" />
            {isOpen && (
              <text x={x} y={y}>
                {verbs.join(', ')}
              </text>
            )}
          </g>
        )
      })}
      {STATES.map((one) => (
        <g key={one} class={one === state ? `state here ${kindOf(one)}` : 'state'}>
          <rect x={PLACES[one][0] - WIDTH / 2} y={PLACES[one][1] - HEIGHT / 2} width={WIDTH} height={HEIGHT} rx="6" />
          <text x={PLACES[one][0]} y={PLACES[one][1] + 4}>
            {one.toLowerCase()}
          </text>
        </g>
      ))}
    </svg>
  )
}
