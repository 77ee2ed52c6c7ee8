// Messages that were given up, each with the way back: it starts an execution after all, or says why it cannot.
import { useSignal } from '@preact/signals'
import { apiPath, fetchOwn } from '../../lib/api'
import { type Json, parseJson } from '../../lib/losslessJson'
import { hrefOf, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Act } from '../../parts/Act'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import type { Order } from '../../parts/SameAct'
import { Ago } from '../../parts/Time'
import { MessageHead } from './MessageHead'

interface DeadMessage {
  dead_letter_id: string
  identity: string
  subject: string | null
  bytes: number
  attempts: number
  reason: string
  created_at: string
  headers: Json
  /** Null: too large to be shown. */
  body: Json
}

interface Dead {
  dead_letters: DeadMessage[]
  has_more: boolean
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

export function DeadMessages({ id }: { id: string }) {
  const cursor = query.value.get('cursor') ?? undefined
  const path = apiPath('/api/subscriptions/dead', {
    subscription_id: id,
    after: cursor,
    limit: 50,
    body: true,
    ids: 'number',
  })
  const dead = useResource(path, (signal) => read(path, signal), { everyMs: 5_000, topics: ['subscriptions'] })
  const last = dead.data?.has_more === true ? dead.data.dead_letters.at(-1)?.dead_letter_id : undefined
  const outcome = useSignal<Started | undefined>(undefined)
  const tell = ({ results }: Redriven): void => {
    outcome.value = results[0]
    dead.reload()
  }
  return (
    <>
      {outcome.value !== undefined && <Outcome started={outcome.value} />}
      <Panel
        resource={dead}
        isEmpty={(data) => data.dead_letters.length === 0}
        empty={<p>{cursor === undefined ? 'No message was given up.' : 'No further message was given up.'}</p>}
      >
        {(data) => <Messages messages={data.dead_letters} onDone={tell} />}
      </Panel>
      <Pages cursor={cursor} next={last} />
    </>
  )
}

/** What the messages hold keeps every digit. */
async function read(path: string, signal: AbortSignal): Promise<Dead> {
  const text = await fetchOwn('GET', path, { signal }, (response) => response.text())
  const answer = JSON.parse(text) as Dead
  const { dead_letters: exact } = parseJson(text) as { dead_letters: { headers: Json; body: Json }[] }
  const messages = answer.dead_letters.map((message, index) => ({
    ...message,
    headers: exact[index]!.headers,
    body: exact[index]!.body,
  }))
  return { ...answer, dead_letters: messages }
}

function redriveOf({ dead_letter_id: id }: DeadMessage, reason: string): Order {
  const hasReason = reason !== ''
  return {
    cli: ['subscription', 'dead', 'redrive', id, ...(hasReason ? ['--reason', reason] : [])],
    path: '/api/subscriptions/dead/redrive',
    body: { ids: [id], ...(hasReason ? { reason } : {}) },
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
              <td class="main">
                <div class="ellipsis" title={message.reason}>
                  {message.reason}
                </div>
                <MessageHead headers={message.headers} body={message.body} />
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
                  order={(reason) => redriveOf(message, reason)}
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
