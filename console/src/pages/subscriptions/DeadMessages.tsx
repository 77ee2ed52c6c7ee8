// Messages that were given up, each with the way back: it starts an execution after all, or says why it cannot.
import { useSignal } from '@preact/signals'
import { apiPath, get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Act } from '../../parts/Act'
import { Panel } from '../../parts/Panel'
import type { Order } from '../../parts/SameAct'
import { Ago } from '../../parts/Time'

interface DeadMessage {
  dead_letter_id: string
  identity: string
  subject: string | null
  bytes: number
  attempts: number
  reason: string
  created_at: string
}

interface Started {
  id: string
  outcome: string
  execution_id: string | null
  reason: string | null
}

interface Redriven {
  results: Started[]
}

const LIMIT = 200

export function DeadMessages({ id }: { id: string }) {
  const path = apiPath('/api/subscriptions/dead', { subscription_id: id, limit: LIMIT })
  const dead = useResource(path, (signal) => get<{ dead_letters: DeadMessage[]; has_more: boolean }>(path, signal), {
    everyMs: 5_000,
    topics: ['subscriptions'],
  })
  const outcome = useSignal<Started | undefined>(undefined)
  const tell = ({ results }: Redriven): void => {
    outcome.value = results[0]
    dead.reload()
  }
  return (
    <>
      {outcome.value !== undefined && <Outcome started={outcome.value} />}
      <Panel resource={dead} isEmpty={(data) => data.dead_letters.length === 0} empty={<p>No message was given up.</p>}>
        {(data) => (
          <>
            <Messages messages={data.dead_letters} onDone={tell} />
            {data.has_more && <p class="muted">The oldest {LIMIT}; there are more.</p>}
          </>
        )}
      </Panel>
    </>
  )
}

function redriveOf({ dead_letter_id: id }: DeadMessage): Order {
  return {
    cli: ['subscription', 'dead', 'redrive', id],
    path: '/api/subscriptions/dead/redrive',
    body: { ids: [id] },
  }
}

function Outcome({ started }: { started: Started }) {
  const { id, outcome, execution_id: execution, reason } = started
  return (
    <p class={execution === null ? 'notice stale' : 'notice'} role="status">
      Message {id}: {outcome}
      {reason !== null && `, ${reason}`}
      {execution !== null && (
        <>
          {' '}
          <a class="mono" href={hrefOf(`/executions/${execution}`)}>
            {execution}
          </a>
        </>
      )}
    </p>
  )
}

interface MessagesProps {
  messages: readonly DeadMessage[]
  onDone: (answer: Redriven) => void
}

function Messages({ messages, onDone }: MessagesProps) {
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th>Message</th>
            <th>Subject</th>
            <th>Reason</th>
            <th class="number">Attempts</th>
            <th class="number">Bytes</th>
            <th>Given up</th>
            <th class="act">
              <span class="visually-hidden">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {messages.map((message) => (
            <tr key={message.dead_letter_id}>
              <td class="ellipsis step" title={message.identity}>
                <code class="whole">{message.dead_letter_id}</code> <span class="muted">{message.identity}</span>
              </td>
              <td class="ellipsis narrow" title={message.subject ?? undefined}>
                {message.subject}
              </td>
              <td class="ellipsis main" title={message.reason}>
                {message.reason}
              </td>
              <td class="number" data-name="Attempts">
                {message.attempts}
              </td>
              <td class="number" data-name="Bytes">
                {whole(message.bytes)}
              </td>
              <td>
                <Ago at={message.created_at} />
              </td>
              <td class="act">
                <Act
                  name="Start again"
                  consequence={`Starts an execution from the message ${message.dead_letter_id}. If it fails again, it stays here.`}
                  order={() => redriveOf(message)}
                  onDone={onDone}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
