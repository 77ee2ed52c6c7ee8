// What can be done with a subscription in its state, by the word of the server; what cannot says why.
import { Act } from '../../parts/Act'
import type { Order } from '../../parts/SameAct'
import { ACTIONS, type Action, LEADS_TO, type Subscription } from './subscription'
import { useStopping } from './useStopping'

const NAMES: Readonly<Record<Action, string>> = {
  activate: 'Activate',
  pause: 'Pause',
  resume: 'Resume',
  drain: 'Drain',
  deactivate: 'Deactivate',
}

const CONSEQUENCES: Readonly<Record<Action, string>> = {
  activate: 'Messages start executions from now on.',
  pause:
    'No message starts an execution any more, on any daemon, until it is resumed or the pause ends. Messages wait in the source.',
  resume: 'Messages start executions again, those that waited first.',
  drain: 'No new messages are taken; what a daemon holds is started; then it is deactivated.',
  deactivate: 'Stops at once, and frees path and listener for another subscription.',
}

const HOTKEYS: Partial<Record<Action, string>> = { pause: 'p', resume: 'r', drain: 'd' }

/** Whoever finds that deliveries have stopped asks why. */
const EXPLAINED: readonly Action[] = ['pause', 'drain', 'deactivate']

const MINUTE = 60_000
const ENDS = [
  { value: '', name: 'until it is resumed' },
  { value: String(15 * MINUTE), name: 'for 15 minutes' },
  { value: String(60 * MINUTE), name: 'for an hour' },
  { value: String(24 * 60 * MINUTE), name: 'for a day' },
  { value: String(7 * 24 * 60 * MINUTE), name: 'for a week' },
]
/** Once a pause has an end, a second one can move it and not take it off: without an end it would be a repetition. */
const OTHER_ENDS = ENDS.filter(({ value }) => value !== '').map(({ value, name }) => ({
  value,
  name: `${name} from now`,
}))

export function Actions({ subscription, onDone }: { subscription: Subscription; onDone: () => void }) {
  const { subscription_id: id, state, allowed_actions: allowed, paused_until: end } = subscription
  const { stopping, change } = useStopping(id)
  const refused = ACTIONS.filter((action) => !allowed.includes(action))
  // The server takes them, so that a repeated call does no harm; to a reader they offer nothing.
  const offered = ACTIONS.filter((action) => allowed.includes(action) && LEADS_TO[action] !== state)
  return (
    <>
      <div class="buttons">
        {offered.map((action) => (
          <Act
            key={action}
            name={NAMES[action]}
            consequence={CONSEQUENCES[action]}
            needsReason={EXPLAINED.includes(action)}
            isPublic
            {...(HOTKEYS[action] === undefined ? {} : { hotkey: HOTKEYS[action] })}
            {...(action === 'pause' ? { choice: { label: 'How long', options: ENDS } } : {})}
            order={(reason, lasts) => orderOf(id, action, { reason, lasts })}
            act={change}
            onDone={onDone}
          />
        ))}
        {state === 'PAUSED' && allowed.includes('pause') && (
          <Act
            name={end === null ? 'Set an end' : 'Move the end'}
            consequence="It stays paused and is resumed by itself at the end that is chosen here. To pause without an end, resume it and pause it again."
            needsReason
            isPublic
            hotkey="p"
            choice={{ label: 'How long', options: OTHER_ENDS }}
            order={(reason, lasts) => orderOf(id, 'pause', { reason, lasts })}
            act={change}
            onDone={onDone}
          />
        )}
      </div>
      {stopping.value !== undefined && (
        <p class={stopping.value.isOver ? 'notice' : 'notice partial'} role="status">
          {stopping.value.text}{' '}
          {stopping.value.again !== undefined && (
            <button type="button" class="link" onClick={stopping.value.again}>
              Ask again
            </button>
          )}
        </p>
      )}
      {refused.length > 0 && (
        <p class="muted">
          Not from {state.toLowerCase()}: {refused.join(', ')}.
        </p>
      )}
    </>
  )
}

interface Wanted {
  reason: string
  /** Milliseconds; empty is without end. */
  lasts: string
}

function orderOf(id: string, action: Action, { reason, lasts }: Wanted): Order {
  const why = reason === '' ? [] : ['--reason', reason]
  const end = lasts === '' ? [] : ['--until', `${Number(lasts) / MINUTE}m`]
  return {
    cli: ['subscription', action, id, ...why, ...end],
    path: `/api/subscriptions/${id}/${action}`,
    body: {
      ...(reason === '' ? {} : { reason }),
      ...(lasts === '' ? {} : { until: new Date(Date.now() + Number(lasts)).toISOString() }),
    },
  }
}
