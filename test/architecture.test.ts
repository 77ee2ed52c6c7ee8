// Promise: the floors of CONTRIBUTING.md hold. Who may import whom, which floor owns which package, and what
// nobody may touch is read from the sources; a broken rule is named with file and offender.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FLOORS, isUnder, LINES_MAX, OWNERS, readSources, type SourceFile, violations } from './support/architecture.js'
import { consoleViolations, readConsole } from './support/consoleRules.js'

describe('the sources', () => {
  it('break no rule', () => {
    expect(violations(readSources())).toEqual([])
  })

  it('are all there', () => {
    const paths = readSources().map((file) => file.path)
    expect(paths.length).toBeGreaterThan(100)
    for (const floor of Object.keys(FLOORS))
      expect(
        paths.some((path) => isUnder(path, floor)),
        floor,
      ).toBe(true)
  })

  it('use every dependency they install, and no other', () => {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    const installed = { ...manifest.dependencies, ...manifest.optionalDependencies }
    expect(Object.keys(installed).sort()).toEqual(Object.keys(OWNERS).sort())
  })
})

describe('the console', () => {
  it('breaks no rule', () => {
    expect(readConsole().length).toBeGreaterThan(10)
    expect(consoleViolations(readConsole())).toEqual([])
  })

  it.each([
    ['pages/a.tsx', "import { CpError } from '../../../src/errors'", /nothing but types/],
    ['a.ts', "import { z } from 'zod'", /does not bring/],
    ['a.ts', 'node.innerHTML = text', /data is text/],
    ['a.ts', 'x\n'.repeat(301), /second idea/],
  ])('a planted violation in %s is found: %s', (path, text, expected) => {
    expect(consoleViolations([{ path, text }])).toEqual([expect.stringMatching(expected)])
  })
})

describe('the walks of CONTRIBUTING.md', () => {
  const guide = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8')
  const walks = guide.split('\n').filter((line) => line.startsWith('|') && line.includes('`') && line.includes('→'))

  it('go through files that are there, as many as they say', () => {
    const paths = new Set(readSources().map(({ path }) => path))
    expect(walks).toHaveLength(5)
    for (const walk of walks) {
      const files = new Set(Array.from(walk.matchAll(/`([\w/]+\.ts)`/g), ([, file]) => file!))
      expect([...files].filter((file) => !paths.has(file))).toEqual([])
      expect(walk).toContain(`(${files.size})`)
    }
  })
})

describe('a planted violation', () => {
  const planted: [string, string, RegExp][] = [
    ['domain/a.ts', "import { now } from '../runtime/clock.js'", /floor domain\) must not import runtime\/clock\.ts/],
    ['domain/a.ts', "import { readFileSync } from 'node:fs'", /must not import node:fs/],
    ['http/routes/a.ts', "import type { Db } from '../../db/db.js'", /floor http\) must not import db\/db\.ts/],
    ['http/a.ts', "import { append } from '../stores/eventStore.js'", /must not import stores/],
    ['services/a.ts', "import { EXIT } from '../cli/exit.js'", /floor services\) must not import cli/],
    ['services/a.ts', "import { STATUS_OF } from '../http/errors.js'", /must not import http/],
    ['services/a.ts', "import type { Config } from '../config/keys.js'", /must not import config/],
    ['stores/a.ts', "import type { Log } from '../runtime/log.js'", /floor stores\) must not import runtime/],
    ['workers/pool2.ts', "import { fold } from '../domain/replay/fold.js'", /floor workers\) must not import domain/],
    ['services/state/inThread/a.ts', "import { ask } from '../stateService.js'", /must not import services\/state/],
    ['cli/commands/a.ts', "import {\n  createPool,\n} from '../../db/pool.js'", /floor cli\) must not import db/],
    ['stores/a.ts', "import postgres from 'postgres'", /must not import postgres; only db may/],
    ['services/a.ts', "import { connect } from 'nats'", /only bus and tools\/nats may/],
    ['daemon/a.ts', "const { Piscina } = await import('piscina')", /only workers may/],
    ['domain/a.ts', "import { parse } from 'yaml'", /only config and domain\/catalog may/],
    ['runtime/a.ts', "import leftPad from 'left-pad'", /belongs to no floor/],
    ['helpers/a.ts', '', /lies on no known floor/],
    ['services/a.ts', 'const home = process.env["HOME"]', /must not use process\.env/],
    ['cli/a.ts', 'process.exit(1)', /only bin\/ ends the process/],
    ['http/a.ts', 'console.log(1)', /must not use console/],
    ['domain/a.ts', 'const at = Date.now()', /deps\.clock/],
    ['bus/a.ts', 'const at = new Date()', /deps\.clock/],
    ['bus/a.ts', 'await sleep(AbortSignal.any([stop, wake]))', /listen to each signal/],
    ['runtime/a.ts', 'const dice = Math.random()', /deps\.random/],
    ['db/a.ts', 'x\n'.repeat(LINES_MAX + 1), /second idea/],
  ]

  it.each(planted)('in %s is found: %s', (path, text, expected) => {
    const found = violations([{ path, text }])
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(expected)
  })

  it('between files is found: a circle of imports, types included', () => {
    const found = violations([
      { path: 'domain/a.ts', text: "import { b } from './b.js'" },
      { path: 'domain/b.ts', text: "import type { A } from './a.js'" },
    ])
    expect(found).toEqual(['import cycle: domain/a.ts → domain/b.ts → domain/a.ts'])
  })

  it('is not seen where there is none', () => {
    const fine: SourceFile[] = [
      { path: 'services/replay/inThread/a.ts', text: "import { parseJson } from '../../../domain/json/parse.js'" },
      { path: 'workers/a.ts', text: "import { replay } from '../services/replay/inThread/state.js'" },
      { path: 'db/a.ts', text: "import postgres from 'postgres'\n// never console.log() here" },
      { path: 'daemon/a.ts', text: "import { createHttpServer } from '../http/server.js'" },
    ]
    expect(violations(fine)).toEqual([])
  })
})
