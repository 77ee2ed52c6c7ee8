// /openapi.json as people read it: every operation with who may call it, what it takes and what it answers.
import { get } from '../../lib/api'
import { PREFIX } from '../../lib/prefix'
import { ask, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { mayCall, type OpenApi, type Operation, operationsOf, type Schema, schemaOf, typeText } from './openApi'

const PATH = '/openapi.json'

export function ApiReference() {
  const api = useResource(PATH, (signal) => get<OpenApi>(PATH, signal))
  return (
    <Panel resource={api} lines={8}>
      {(document) => (
        <>
          <p class="muted">
            {document.info.description}{' '}
            <a href={PREFIX + PATH} target="_blank" rel="noreferrer">
              The same as OpenAPI
            </a>
          </p>
          <Operations operations={operationsOf(document)} />
        </>
      )}
    </Panel>
  )
}

function Operations({ operations }: { operations: readonly Operation[] }) {
  const text = query.value.get('q') ?? ''
  const found = operations.filter(({ method, path, summary }) =>
    `${method} ${path} ${summary}`.toLowerCase().includes(text.toLowerCase()),
  )
  return (
    <>
      <search class="filters">
        <input
          type="search"
          class="wide"
          aria-label="Search the API"
          placeholder="Path or what it does"
          value={text}
          onInput={(event) => ask({ q: event.currentTarget.value }, { replace: true })}
        />
        <span class="muted">
          {whole(found.length)} of {whole(operations.length)}
        </span>
      </search>
      {found.length === 0 && <p class="empty">Nothing of the API matches.</p>}
      {[...new Set(found.flatMap(({ tags }) => tags))].map((tag) => (
        <section key={tag} class="api">
          <h3>{tag}</h3>
          {found
            .filter(({ tags }) => tags.includes(tag))
            .map((operation) => (
              <OperationDetails key={operation.operationId} operation={operation} />
            ))}
        </section>
      ))}
    </>
  )
}

function OperationDetails({ operation }: { operation: Operation }) {
  const { method, path, summary, parameters = [], requestBody, responses } = operation
  const body = requestBody === undefined ? undefined : schemaOf(requestBody)
  return (
    <details>
      <summary>
        <code>
          <b>{method}</b> {path}
        </code>
        <span>{summary}</span>
        <span class="muted">{mayCall(operation)}</span>
      </summary>
      {parameters.length > 0 && (
        <Fields
          title="Parameters"
          fields={parameters.map(({ name, description, schema = {}, required, ...rest }) => ({
            name: required === true ? `${name} (${rest.in}, needed)` : `${name} (${rest.in})`,
            schema: description === undefined ? schema : { ...schema, description },
          }))}
        />
      )}
      {body !== undefined && <Fields title="Body" fields={fieldsOf(body)} />}
      {Object.entries(responses).map(([status, response]) => {
        const answer = schemaOf(response)
        return (
          <Fields
            key={status}
            title={`${status}: ${response.description ?? ''}`}
            fields={answer?.$ref === undefined && answer !== undefined ? fieldsOf(answer) : []}
          />
        )
      })}
    </details>
  )
}

interface Field {
  name: string
  schema: Schema
}

function fieldsOf(schema: Schema): Field[] {
  const inner = schema.items?.properties === undefined ? schema : schema.items
  return Object.entries(inner.properties ?? {}).map(([name, one]) => ({
    name: inner.required?.includes(name) === true ? `${name} (needed)` : name,
    schema: one,
  }))
}

function Fields({ title, fields }: { title: string; fields: readonly Field[] }) {
  return (
    <>
      <h4>{title}</h4>
      {fields.length > 0 && (
        <dl>
          {fields.map(({ name, schema }) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                <code class="muted">{typeText(schema)}</code> {schema.description}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}
