// What the keys do, screen by screen.
import { PLACES } from './places'

const EVERYWHERE: readonly (readonly [string, string])[] = [
  ['?', 'this help'],
  ['/', 'search'],
  ['.', 'follow or pause'],
  ['t', 'light or dark'],
  ['y', 'copy the link to this screen'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['f', 'filter the executions'],
  ['w', 'why the execution of the row has not ended'],
  ['x', 'choose the execution of the row; c compares two'],
  ['Esc', 'close'],
]

const OVERVIEW: readonly (readonly [string, string])[] = [
  ['← →', 'the moment on the charts; with Shift ten steps'],
  ['+ −', 'nearer and farther'],
  ['1 … 4', 'the last 15 minutes to 24 hours'],
  ['Enter', 'executions of that moment'],
]

const EXECUTION: readonly (readonly [string, string])[] = [
  ['← →', 'one event back or on; with Shift ten'],
  ['PgUp PgDn', 'one screen; Home and End: first and last event'],
  ['n p', 'next and previous failure'],
  ['[ ]', 'same step, or what was chosen'],
  ['m', 'pin here: changes are shown against it'],
  ['Space', 'play or stop'],
  ['e', 'axis by event, time or time at work'],
  ['w s', 'nearer and farther; 0 all of it'],
  ['a d', 'to the left and to the right'],
  ['1 … 9', 'tabs'],
]

const OPERATIONS: readonly (readonly [string, string])[] = [
  ['r d', 'outbox, dead rows: requeue, its dry run first'],
  ['a', 'outbox, audit: begin one'],
  ['p r d', 'a subscription: pause, resume, drain'],
]

export function KeyTable() {
  const places = PLACES.flatMap(({ key, name }) => (key === undefined ? [] : [[`g ${key}`, name] as const]))
  return (
    <div class="keys">
      <KeyList title="Everywhere" keys={[...EVERYWHERE, ...places]} />
      <KeyList title="Overview" keys={OVERVIEW} />
      <KeyList title="One execution" keys={EXECUTION} />
      <KeyList title="Outbox and subscriptions (each asks first)" keys={OPERATIONS} />
    </div>
  )
}

function KeyList({ title, keys }: { title: string; keys: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
