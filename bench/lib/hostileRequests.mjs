// Requests that are made to hold the main loop up: as large as their routes allow, and full of what costs time with every
// byte. Each is { name, path, status: what it is answered with, headers, body(executionId), kind: one of each is enough
// for a short series, the first }.

const MB = 1_048_576

export const HOOK_TOKEN = 'a-token-of-the-attacked-hook'

/** To be registered first, with HOOK_TOKEN as the secret `attacked_hook`; the second one is to be activated. */
export const attackedDocuments = [
  `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: attacked, path: attacks/playbook}
workload: {}
workflow:
  - step: start
    tool: {kind: python, code: "x = 1"}
`,
  `apiVersion: noetl.io/v2
kind: Subscription
metadata: {path: attacks/hook}
spec:
  source: webhook
  mode: push
  ingress: {gateway_path: /hooks/attacks, verify: {type: bearer, secret: attacked_hook}}
  dispatch: {playbook: attacks/playbook}
`,
]

/** JSON values of about so many bytes. */
const SHAPES = {
  keys: (bytes) => `{${filled(bytes, 14, (n) => `"k${n}":${n % 10}`).join(',')}}`,
  nested: (bytes) => `[${filled(bytes, 380, () => '{"a":['.repeat(50) + ']}'.repeat(50)).join(',')}]`,
  escapes: (bytes) => `["${'\\u00e9\\n\\"\\\\'.repeat(bytes / 12)}"]`,
  secrets: (bytes) =>
    `[${filled(bytes, 90, (n) => `{"db_password":"not-to-be-told-${n}","url":"https://user:password@host/?access_token=${n}"}`).join(',')}]`,
  numbers: (bytes) => `[${filled(bytes, 22, (n) => `1234567890123456${n % 1000}.5`).join(',')}]`,
}

function filled(bytes, each, make) {
  const pieces = []
  for (let n = 0, size = 0; size < bytes - each; n++) {
    const piece = make(n)
    pieces.push(piece)
    size += piece.length + 1
  }
  return pieces
}

const EVENT_BYTES = 4 * MB - 1024
const BATCH_BYTES = 14 * MB
const event = (id, payload, more = '') =>
  `{"execution_id":"${id}","step":"a","event_type":"step.exit"${more},"payload":${payload}}`
const inEvents = Object.entries(SHAPES).map(([shape, make]) => ({
  name: `event of 4 MB, ${shape}`,
  kind: shape === 'secrets' ? 'event of 4 MB, to be redacted' : 'event of 4 MB',
  path: '/api/events',
  status: 200,
  body: (id) => event(id, make(EVENT_BYTES)),
}))
const many = (count, make) => Array.from({ length: count }, (_, n) => make(n)).join(',')
const inBatches = Object.entries(SHAPES).map(([shape, make]) => ({
  name: `batch of 14 MB, ${shape}`,
  kind: 'event of a batch',
  path: '/api/events/batch',
  status: 200,
  body: (id) =>
    `{"execution_id":"${id}","events":[${many(4, () => `{"step":"a","name":"step.exit","payload":${make(BATCH_BYTES / 4)}}`)}]}`,
}))
const noise = (bytes, fields) => `{${SHAPES.keys(bytes).slice(1, -1)},${fields}}`
const document = (content) => JSON.stringify({ content })
const validate = { path: '/api/playbooks/validate', status: 200 }

export const hostileRequests = [
  ...inEvents,
  {
    name: 'event of 4 MB with an id of its own',
    kind: 'event of 4 MB',
    path: '/api/events',
    status: 200,
    body: (id) => event(id, SHAPES.keys(EVENT_BYTES), `,"event_id":"${BigInt(id) + 1000n}"`),
  },
  ...inBatches,
  {
    name: 'batch of 14 MB, one event',
    kind: 'event of a batch',
    path: '/api/events/batch',
    status: 413,
    body: (id) =>
      `{"execution_id":"${id}","events":[{"step":"a","name":"step.exit","payload":${SHAPES.keys(BATCH_BYTES)}}]}`,
  },
  {
    name: 'batch of 14 MB, 10,000 events',
    kind: 'events of a batch',
    path: '/api/events/batch',
    status: 200,
    body: (id) =>
      `{"execution_id":"${id}","events":[${many(10_000, () => `{"step":"a","name":"step.exit","payload":${SHAPES.keys(1500)}}`)}]}`,
  },
  {
    name: 'batch of 64 KB, as many events as it holds',
    kind: 'batch in the main loop',
    path: '/api/events/batch',
    status: 200,
    body: (id) => `{"execution_id":"${id}","events":[${many(1_750, () => '{"step":"a","name":"step.exit"}')}]}`,
  },
  {
    name: 'event of 64 KB, keys',
    kind: 'event in the main loop',
    path: '/api/events',
    status: 200,
    body: (id) => event(id, SHAPES.keys(65_000)),
  },
  {
    name: 'start of 4 MB, keys',
    kind: 'start',
    path: '/api/execute',
    status: 200,
    body: () => `{"path":"attacks/playbook","driven":false,"payload":${SHAPES.keys(EVENT_BYTES)}}`,
  },
  {
    name: 'starts of 14 MB, four',
    kind: 'starts',
    path: '/api/execute/batch',
    status: 200,
    body: () =>
      `{"executions":[${many(4, () => `{"path":"attacks/playbook","driven":false,"payload":${SHAPES.keys(BATCH_BYTES / 4)}}`)}]}`,
  },
  {
    name: 'starts of 14 MB, 1,000',
    kind: 'starts',
    path: '/api/execute/batch',
    status: 200,
    body: () =>
      `{"executions":[${many(1_000, () => `{"path":"attacks/playbook","driven":false,"payload":${SHAPES.keys(15_000)}}`)}]}`,
  },
  ...['keys', 'secrets'].map((shape) => ({
    name: `variables of 4 MB, ${shape}`,
    kind: 'variables',
    path: (id) => `/api/vars/${id}`,
    status: 200,
    body: () => `{"k":${SHAPES[shape](EVENT_BYTES)}}`,
  })),
  {
    name: 'pushed message of 4 MB, keys',
    kind: 'pushed message',
    path: '/ingress/attacks',
    status: 202,
    headers: { authorization: `Bearer ${HOOK_TOKEN}` },
    body: () => SHAPES.keys(EVENT_BYTES),
  },
  {
    name: 'document of 4 MB, keys around it',
    kind: 'fields around a document',
    path: '/api/catalog/register',
    status: 422,
    body: () => noise(EVENT_BYTES, '"content":"a: 1"'),
  },
  {
    name: 'finalising with 4 MB, keys around it',
    kind: 'finalising',
    path: (id) => `/api/executions/${id}/finalize`,
    status: 200,
    body: () => noise(EVENT_BYTES, '"status":"COMPLETED"'),
  },
  {
    name: 'document of 209 KB, unique keys',
    kind: 'keys of a document',
    ...validate,
    body: () => document(filled(209_000, 10, (n) => `k${n}: 1`).join('\n')),
  },
  {
    name: 'document of 142 KB, aliases',
    kind: 'aliases of a document',
    ...validate,
    body: () => document(filled(142_000, 20, (n) => `a${n}: &a${n} x\nb${n}: *a${n}`).join('\n')),
  },
  {
    name: 'document of 1 MB, one text',
    kind: 'keys of a document',
    ...validate,
    body: () => document(`a: "${'x'.repeat(1_000_000)}"`),
  },
  {
    name: 'text of 48 KB that looks like a JWT',
    kind: 'text in the main loop',
    path: '/api/events',
    status: 200,
    body: (id) => event(id, `"${'eyJ.'.repeat(12_000)}"`),
  },
  {
    name: '48 KB of slashes in a path',
    kind: 'path',
    path: '/api/execute',
    status: 400,
    body: () => `{"path":"a${'/'.repeat(48_000)}b"}`,
  },
]
