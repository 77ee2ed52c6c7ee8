// The form that a person fills in to start a playbook: one field per key of its workload, the kind by the value that
// stands there. Comments on a top-level key say more, at the end of its line or in the lines above it:
//   # ui:secret   # ui:description=what it is for   # ui:options=a,b,c   # ui:credential=pattern of names
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

const HINT = /(?:^|\s)#\s*ui:(secret|description|options|credential)\b(?:=(.*?))?(?=\s+#\s*ui:|$)/g

export function uiFields(workload: JsonObject, content: string): JsonObject[] {
  const hints = hintsOf(content)
  return Object.keys(workload).map((name) => field(name, workload[name]!, hints.get(name)))
}

interface Hints {
  secret?: true
  description?: string
  options?: string[]
  credential?: string
}

function field(name: string, value: JsonValue, hints: Hints = {}): JsonObject {
  return {
    name,
    kind: hints.options === undefined ? kindOf(value) : 'enum',
    // What is a secret is not shown, not even the one that stands in the document.
    default: hints.secret === true ? null : value,
    description: hints.description ?? null,
    secret: hints.secret === true,
    credential_glob: hints.credential ?? null,
    options: hints.options ?? [],
    children: isJsonObject(value) ? Object.keys(value).map((key) => field(key, value[key]!)) : [],
  }
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isJsonObject(value)) return 'object'
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value
  return typeof value === 'bigint' || Number.isInteger(value) ? 'integer' : 'number'
}

/** Of the keys right below `workload:`. Values are not read here, so what the lines hold besides is of no matter. */
function hintsOf(content: string): Map<string, Hints> {
  const found = new Map<string, Hints>()
  let indent: string | undefined
  let isInside = false
  let waiting: Hints = {}
  for (const line of content.split('\n')) {
    if (/^\S/.test(line) && !line.startsWith('#')) isInside = /^workload\s*:/.test(line)
    if (!isInside) continue
    const key = /^(\s+)(?:"([^"]+)"|'([^']+)'|([^\s#"':][^:]*?))\s*:(?:\s|$)/.exec(line)
    Object.assign(waiting, hintsIn(line))
    if (key === null) continue
    indent ??= key[1]!
    if (key[1] === indent) found.set(key[2] ?? key[3] ?? key[4]!, waiting)
    waiting = {}
  }
  return found
}

function hintsIn(line: string): Hints {
  const hints: Hints = {}
  for (const [, name, value = ''] of line.matchAll(HINT)) {
    const text = value.trim()
    if (name === 'secret') hints.secret = true
    else if (text === '') continue
    else if (name === 'description') hints.description = text
    else if (name === 'credential') hints.credential = text
    else hints.options = text.split(',').map((option) => option.trim())
  }
  return hints
}
