// A form from the workload of a playbook. It starts one execution, however often the button is hit: every form has a key
// of its own, and what is started twice under one key is started once.

import { type Signal, signal, useSignal } from '@preact/signals'
import { ApiError, apiPath } from '../../lib/api'
import { getJson, type Json, jsonText, sendJson } from '../../lib/losslessJson'
import { go, hrefOf } from '../../lib/router'
import { whyNotWriter } from '../../lib/session'
import { useResource } from '../../lib/useResource'
import { ActButton } from '../../parts/ActButton'
import { Panel } from '../../parts/Panel'
import { SameAct } from '../../parts/SameAct'
import { type EntryHead, uiSchemaPath } from './entry'
import { FieldInput } from './FieldInput'
import { type Field, type Filled, fill, type Written, workloadOf, writtenOf } from './runForm'
import { requestOf, startOrder } from './startOrder'

export function RunTab({ entry }: { entry: EntryHead }) {
  // Numbers of the workload are no ids: as text they would be sent as text.
  const path = apiPath(uiSchemaPath(entry.path), { version: entry.version, ids: 'number' })
  const schema = useResource(path, async (signal) => {
    const { fields } = (await getJson(path, signal)) as unknown as { fields: Field[] }
    return fields
  })
  return (
    <Panel resource={schema} lines={5}>
      {(fields) => <Form entry={entry} fields={fields} />}
    </Panel>
  )
}

interface Draft {
  written: Signal<Written>
  /** Where it is written as JSON. */
  asText: Signal<string | undefined>
  labels: Signal<string>
  key: Signal<string>
}

/** By catalog id, while the page is open: another tab or the way back must not cost what was filled in. */
const drafts = new Map<string, Draft>()

function draftOf(catalogId: string): Draft {
  const known = drafts.get(catalogId)
  if (known !== undefined) return known
  const draft: Draft = {
    written: signal(new Map()),
    asText: signal(undefined),
    labels: signal(''),
    key: signal(randomKey()),
  }
  drafts.set(catalogId, draft)
  return draft
}

function Form({ entry, fields }: { entry: EntryHead; fields: readonly Field[] }) {
  const { written, asText, labels, key } = draftOf(entry.catalog_id)
  const isBusy = useSignal(false)
  const refusal = useSignal<ApiError | undefined>(undefined)
  const filled = asText.value === undefined ? fill(fields, written.value) : filledByText(asText.value)
  const isRefused = filled.refused.size > 0
  const asFields = asText.value === undefined || isRefused ? undefined : writtenOf(fields, filled.workload)
  const request = requestOf(entry, filled.workload, { key: key.value, labels: labels.value })
  const why = whyNotWriter.value
  const start = async (): Promise<void> => {
    if (isBusy.value) return
    isBusy.value = true
    refusal.value = undefined
    try {
      const started = (await sendJson('/api/execute', request)) as { execution_id: string }
      drafts.delete(entry.catalog_id)
      go(hrefOf(`/executions/${started.execution_id}`))
    } catch (error) {
      refusal.value = error instanceof ApiError ? error : new ApiError(String(error), -1, 'POST /api/execute')
      isBusy.value = false
    }
  }
  return (
    <form
      class="run-form"
      onSubmit={(event) => {
        event.preventDefault()
        void start()
      }}
    >
      <div class="run-form-head">
        <h2>Workload</h2>
        {asText.value === undefined ? (
          <button
            type="button"
            class="link"
            onClick={() => {
              asText.value = jsonText(filled.workload)
            }}
          >
            Write it as JSON
          </button>
        ) : (
          <ActButton
            class="link"
            why={asFields === undefined ? 'The fields have no place for what is written here' : undefined}
            onClick={() => {
              written.value = asFields!
              asText.value = undefined
            }}
          >
            Back to the fields
          </ActButton>
        )}
      </div>
      {asText.value !== undefined && (
        <label class="field">
          What lies over the workload of the document
          <textarea
            class="mono"
            rows={10}
            spellcheck={false}
            value={asText.value}
            onInput={(event) => {
              asText.value = event.currentTarget.value
            }}
          />
          <Refused why={filled.refused.get('')} />
        </label>
      )}
      {asText.value === undefined &&
        fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            text={written.value.get(field.name)}
            refused={filled.refused.get(field.name)}
            onWrite={(text) => {
              written.value = new Map(written.value).set(field.name, text)
            }}
          />
        ))}
      {asText.value === undefined && fields.length === 0 && <p class="muted">This playbook has no workload.</p>}
      <label class="field">
        Labels to find it by: key=value, with spaces between them
        <input
          type="text"
          class="mono"
          value={labels.value}
          onInput={(event) => {
            labels.value = event.currentTarget.value
          }}
        />
      </label>
      <label class="field">
        Key: started twice with the same one within five minutes, it runs once
        <input
          type="text"
          class="mono"
          maxLength={512}
          value={key.value}
          onInput={(event) => {
            key.value = event.currentTarget.value
          }}
        />
      </label>
      {refusal.value !== undefined && <StartRefused error={refusal.value} />}
      <div class="buttons">
        <button
          type="submit"
          class="primary"
          disabled={why !== undefined || isBusy.value || isRefused}
          title={why ?? 'Starts an execution and shows it'}
        >
          {isBusy.value ? (
            'Starting…'
          ) : (
            <span>
              Run <bdi>{entry.path}</bdi>@{entry.version}
            </span>
          )}
        </button>
        {why !== undefined && <span class="muted">{why}</span>}
      </div>
      <SameAct
        {...startOrder(requestOf(entry, hideSecrets(fields, filled), { key: key.value, labels: labels.value }))}
      />
    </form>
  )
}

function Refused({ why }: { why: string | undefined }) {
  return why === undefined ? null : <span class="failed">{why}</span>
}

/** What a start is refused by has every problem of the playbook. */
function StartRefused({ error }: { error: ApiError }) {
  const problems = (error.body as { problems?: { pointer: string; message: string }[] } | undefined)?.problems ?? []
  return (
    <div class="notice stale" role="alert">
      {error.message}
      {problems.length > 0 && (
        <ul>
          {problems.map(({ pointer, message }) => (
            <li key={`${pointer} ${message}`}>
              <code>{pointer}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function filledByText(text: string): Filled {
  try {
    return { workload: workloadOf(text), refused: new Map() }
  } catch (error) {
    return { workload: {}, refused: new Map([['', (error as Error).message]]) }
  }
}

/** A command that is copied ends in a history of commands. */
function hideSecrets(fields: readonly Field[], { workload }: Filled): { [key: string]: Json } {
  const secret = new Set(fields.flatMap((field) => (field.secret ? [field.name] : [])))
  return Object.fromEntries(Object.entries(workload).map(([name, value]) => [name, secret.has(name) ? '…' : value]))
}

function randomKey(): string {
  return `console-${Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
