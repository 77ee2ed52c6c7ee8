// A first version of something new.
import { go, hrefOf } from '../../lib/router'
import { Editor } from './EditTab'
import { entryHref } from './entry'

const FIRST = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: hello, path: examples/hello }
workload: { name: world }
workflow:
  - step: start
    tool: { kind: noop, result: "Hello, {{ workload.name }}" }
    next: [end]
  - step: end
    tool: { kind: noop, result: "{{ start }}" }
`

export function NewEntry() {
  return (
    <div class="page">
      <a href={hrefOf('/catalog')}>‹ Catalog</a>
      <h1>New entry</h1>
      <Editor draft="" first={FIRST} onRegistered={({ path }) => go(entryHref(path))} />
    </div>
  )
}
