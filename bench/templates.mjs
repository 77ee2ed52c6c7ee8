// Renders per second of typical templates on a context of 44 KB, in one thread, beside nunjucks with the same templates
// precompiled. nunjucks gives texts only and is no dependency of the product; it is installed here.

import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { PlainContext } from '../dist/domain/template/plainContext.js'
import { Template } from '../dist/domain/template/template.js'
import { median } from './lib/context.mjs'

const TYPICAL = [
  '{{ workload.page }}',
  '{{ workload.api_url }}/items/{{ execution_id }}?page={{ ctx.offset }}',
  "{{ output.data.rows[0].name | default('none') }}",
  "{{ output.status == 'ok' and ctx.offset < workload.limit }}",
  '{{ ctx.offset + 10 }}',
]
const CONTEXT_BYTES = 44_000
const ROUNDS = 5
const ROUND_MS = 300

export default {
  name: 'templates',
  run: async () => {
    const context = makeContext()
    const bytes = JSON.stringify(context).length
    const ours = ourRenderer(context)
    const theirs = nunjucksRenderer(context)
    const rates = { ours: [], theirs: [] }
    for (let round = 0; round < ROUNDS; round++) {
      rates.ours.push(rateOf(ours))
      rates.theirs.push(rateOf(theirs))
    }
    const rate = median(rates.ours)
    const compile = rateOf(() => {
      for (const text of TYPICAL) Template.compile(text)
    })
    return [
      {
        name: 'renders per second and thread',
        value: rate,
        unit: '/s',
        ratio: rate / 500_000,
        target: '>= 1',
        note: `${TYPICAL.length} typical templates, context of ${Math.round(bytes / 1000)} KB; ratio to 500,000/s`,
      },
      {
        name: 'beside nunjucks, precompiled',
        value: median(rates.theirs),
        unit: '/s',
        ratio: rate / median(rates.theirs),
        target: '>= 1',
        note: 'ratio of ours to it, same run',
      },
      { name: 'templates compiled', value: compile, unit: '/s' },
    ]
  },
}

function makeContext() {
  const rows = []
  const context = {
    execution_id: '380600494935949312',
    workload: { page: 1, limit: 500, api_url: 'https://api.example.com' },
    ctx: { offset: 10 },
    output: { status: 'ok', data: { rows } },
  }
  for (let id = 0; JSON.stringify(context).length < CONTEXT_BYTES; id++) {
    for (let more = 0; more < 20; more++) rows.push({ id: id * 20 + more, name: `name of ${id}`, tags: ['a', 'b'] })
  }
  return context
}

function ourRenderer(context) {
  const templates = TYPICAL.map((text) => Template.compile(text))
  const scope = new PlainContext(context, new Set(), 0)
  return () => {
    for (const template of templates) template.value(scope)
  }
}

function nunjucksRenderer(context) {
  const folder = fileURLToPath(new URL('./peers', import.meta.url))
  const require = createRequire(new URL('./peers/package.json', import.meta.url))
  try {
    require.resolve('nunjucks')
  } catch {
    const install = ['install', '--no-save', '--no-package-lock', '--ignore-scripts', '--loglevel=error']
    execFileSync('npm', [...install, 'nunjucks@3.2.4'], { cwd: folder, stdio: 'inherit' })
  }
  const nunjucks = require('nunjucks')
  const environment = new nunjucks.Environment(null, { autoescape: false })
  const templates = TYPICAL.map((text) => nunjucks.compile(text, environment))
  return () => {
    for (const template of templates) template.render(context)
  }
}

/** Renders per second: as many passes as fit into the time. */
function rateOf(pass) {
  const started = performance.now()
  let passes = 0
  let elapsed = 0
  while (elapsed < ROUND_MS) {
    for (let index = 0; index < 100; index++) pass()
    passes += 100
    elapsed = performance.now() - started
  }
  return ((passes * TYPICAL.length) / elapsed) * 1000
}
