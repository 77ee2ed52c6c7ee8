// Promise: kind python runs code as playbooks write it, gives its result by the rules, keeps output apart, ends in time
// whatever the code does, and leaves neither processes nor state behind.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Float, type JsonObject, type JsonValue } from '../../src/domain/json/value.js'
import { createForkServer } from '../../src/tools/python/forkServer.js'
import { reply, useHttpServer } from '../support/httpServer.js'
import { startLoneWorker } from '../support/loneWorker.js'
import { isAlive, processTree } from '../support/processes.js'
import { type CommandParts, useTools } from '../support/toolRunner.js'
import { until } from '../support/until.js'

const server = useHttpServer((_, response) =>
  reply(response, 200, 'def main(name):\n    return {"from": "http", "name": name}\n', {
    'content-type': 'text/plain',
  }),
)
const tools = useTools()

function python(code: string, args: JsonObject = {}, more: JsonObject = {}, parts: CommandParts = {}) {
  return tools.tool({ kind: 'python', code, input: args, ...more }, parts)
}

async function result(code: string, args: JsonObject = {}, more: JsonObject = {}, parts: CommandParts = {}) {
  const envelope = await python(code, args, more, parts)
  expect(envelope.error, code).toBeUndefined()
  return envelope.data
}

/** What is left of Python below us: the fork server, and the guardians and leaders that wait. */
const waiting = (): number => processTree(process.pid).filter((pid) => pid !== process.pid && isAlive(pid)).length

describe('what code sees', () => {
  it('is every argument by name, args, input_data, context and the execution', async () => {
    const code = `result = {"a": a, "args": args, "input": input_data, "context": context["seen"], "same": variables is context,
      "id": execution_id, "step": step, "url": server_url}`
    expect(await result(code, { a: 1, 'not a name': 2 }, {}, { context: { seen: true } })).toEqual({
      a: 1,
      args: { a: 1, 'not a name': 2 },
      input: { a: 1, 'not a name': 2 },
      context: true,
      same: true,
      id: '380600494935949312',
      step: 'fetch',
      url: 'http://127.0.0.1:8082',
    })
  })

  it('is the result of a step with SQL, which leads to itself as data', async () => {
    const rows = { rows: [{ n: 1 }], row_count: 1, command_0: { rows: [{ n: 1 }] } }
    const code = `result = [a["data"]["rows"], a.get("data", {}).get("command_0"), context["a"].get("data")["row_count"], sorted(a),
      a.get("nothing", 7), "data" in a, a["data"].get("data"), b.get("data", 8), type(a["rows"]).__name__, a]`
    expect(await result(code, { a: rows, b: { n: 1 } }, {}, { context: { a: rows } })).toEqual([
      rows.rows,
      rows.command_0,
      1,
      ['command_0', 'row_count', 'rows'],
      7,
      false,
      null,
      8,
      'list',
      rows,
    ])
    expect((await python('result = a["nothing"]', { a: rows })).error).toMatchObject({ code: 'PY_KeyError' })
  })

  it('is ctx, as templates see it', async () => {
    const context = { ctx: { tenant: 'a' }, tenant: 'a' }
    expect(await result('result = [ctx["tenant"], ctx.get("nothing")]', {}, {}, { context })).toEqual(['a', null])
    expect(await result('result = ctx', { ctx: 1 }, {}, { context })).toBe(1)
  })

  it('is an argument before anything of ours with the same name', async () => {
    expect(await result('result = [input_data, context, json]', { input_data: 1, context: 2, json: 3 })).toEqual([
      1, 2, 3,
    ])
  })

  it('is modules that need no import, and libs by their alias', async () => {
    const code =
      'result = [json.dumps(1), math.floor(1.5), datetime.date(2026, 1, 2).isoformat(), len(str(uuid.uuid4())), os.sep]'
    expect(await result(code)).toEqual(['1', 1, '2026-01-02', 36, '/'])
    const libs = { b: 'base64', dt: { from: 'datetime', import: 'datetime' }, path: 'os.path' }
    expect(
      await result('result = [b.b64encode(b"x").decode(), dt(2026, 1, 2).year, path.join("a", "b")]', {}, { libs }),
    ).toEqual(['eA==', 2026, 'a/b'])
    expect(await result('result = [re.sub("a", "b", "a")]', {}, { libs: ['re', 'not-installed-binary'] })).toEqual([
      'b',
    ])
    expect((await python('result = 1', {}, { libs: { x: 'no_such_module' } })).error).toMatchObject({
      kind: 'exception',
      code: 'PY_ModuleNotFoundError',
    })
  })

  it('is numbers with every digit, both ways', async () => {
    const numbers = [9007199254740993n, new Float(1), 0.1, -5, 2n ** 70n]
    expect(await result('result = numbers + [2**64, 1e300, 10.0]', { numbers })).toEqual([
      ...numbers,
      2n ** 64n,
      new Float(1e300),
      new Float(10),
    ])
  })

  it('is a short environment, its own folder, and what its author adds', async () => {
    const code = 'result = [sorted(os.environ), os.environ.get("OWN"), os.getcwd()]'
    const [names, own, folder] = (await result(code, {}, { env: { OWN: 5 } })) as [string[], string, string]
    expect(names.filter((name) => !['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'].includes(name))).toEqual(['OWN'])
    expect([own, folder]).toEqual(['5', tools.folder])
  })
})

describe('the result', () => {
  it.each<[string, string, JsonValue]>([
    ['is the variable result', 'result = {"a": 1}', { a: 1 }],
    ['is what a return outside of functions gives', 'if a > 1:\n    return {"big": a}\nresult = "small"', { big: 2 }],
    ['is result when the return is not reached', 'if a > 5:\n    return 1\nresult = "small"', 'small'],
    ['is result through globals()', 'globals().update(result=[a])', [2]],
    ['is what main gives, with the parameters that it names', 'def main(a, b=5):\n    return a + b', 7],
    ['is what main gives with all arguments', 'def main(**kw):\n    return kw', { a: 2 }],
    ['is what main gives that takes whatever comes', 'def main(*args, **context):\n    return context', { a: 2 }],
    ['is what main gives that would take more', 'def main(*args):\n    return len(args)', 0],
    [
      'is what an asynchronous main gives',
      'import asyncio\nasync def main(a):\n    await asyncio.sleep(0)\n    return a',
      2,
    ],
    ['is not taken from main when there is a result', 'def main():\n    return 1\nresult = 2', 2],
    [
      'may use names of the code in its functions',
      'import re\ndef f():\n    return re.sub("a", "b", "a") + str(a)\nresult = f()',
      'b2',
    ],
    [
      'may use names that a return makes local',
      'x = 1\ndef f():\n    global x\n    x += a\n    return x\nf()\nreturn x',
      3,
    ],
    ['keeps comprehensions and classes working', 'class P:\n    v = a\nreturn [P.v for _ in range(2)]', [2, 2]],
    ['may be left by sys.exit(0)', 'import sys\nresult = 1\nsys.exit(0)', 1],
    ['may be None', 'result = None', null],
    ['may change an argument of that name', 'result = result + [2]', [1, 2]],
  ])('%s', async (_, code, expected) => {
    const args: JsonObject = code.includes('result + [2]') ? { result: [1] } : { a: 2 }
    expect(await result(code, args)).toEqual(expected)
  })

  it('is the output when the code has none', async () => {
    expect(await result('print("hello")\nimport sys\nsys.stderr.write("oops")')).toEqual({
      stdout: 'hello\n',
      stderr: 'oops',
    })
  })

  it('of an argument named result that main does not touch is that of main', async () => {
    expect(await result('def main(result):\n    return result + 1', { result: 1 })).toBe(2)
  })

  it('runs a program with its guard once', async () => {
    const code =
      'calls = []\ndef main():\n    calls.append(1)\n    return calls\nif __name__ == "__main__":\n    main()'
    expect(await result(code)).toEqual([1])
    expect(await result('if __name__ == "__main__":\n    result = "ran"')).toBe('ran')
  })

  it('is JSON of dates, decimals, bytes, sets and the like', async () => {
    const code = `
import collections, dataclasses, decimal, enum, pathlib
@dataclasses.dataclass
class Point:
    x: int
class Color(enum.Enum):
    RED = "red"
d = decimal.Decimal
result = [datetime.datetime(2026, 1, 2, 3, 4, 5), datetime.date(2026, 1, 2), datetime.timedelta(seconds=1.5), d("5"), d("0.1"),
  d("0.1000000000000000000001"), b"ab", {3, 1, 2}, (1, 2), Point(1), Color.RED, pathlib.Path("/a"),
  uuid.UUID(int=1), {1: "a", None: "b", (1, 2): "c"}, float("nan"), [float("inf")], range(2), (i for i in [7])]`
    expect(await result(code)).toEqual([
      ...['2026-01-02T03:04:05', '2026-01-02', 1.5, 5, 0.1, '0.1000000000000000000001', 'YWI=', [1, 2, 3], [1, 2]],
      ...[
        { x: 1 },
        'red',
        '/a',
        '00000000-0000-0000-0000-000000000001',
        { 1: 'a', null: 'b', '(1, 2)': 'c' },
        null,
        [null],
      ],
      ...[[0, 1], [7]],
    ])
  })

  it.each<[string, string]>([
    ['an object', 'result = {"deep": [object()]}'],
    ['a circle', 'l = []\nl.append(l)\nresult = l'],
    [
      'too deep a nesting',
      'x = []\nfor _ in range(900):\n    x = [x]\nfor _ in range(900):\n    x = {"a": x}\nresult = x',
    ],
  ])('that is %s is an error of kind transform', async (_, code) => {
    expect((await python(code)).error).toMatchObject({ kind: 'transform', retryable: false })
  })

  it('comes apart from everything that is printed, whoever prints it', async () => {
    const code = `
import subprocess, sys
print('{"result": "fake"}')
os.write(1, b"raw\\n")
subprocess.run(["echo", "from a child"])
sys.stderr.write("warning\\n")
result = "real"`
    const envelope = await python(code)
    expect(envelope).toMatchObject({ data: 'real', stderr: 'warning\n' })
    expect(envelope.stdout?.split('\n').sort()).toEqual(['', 'from a child', 'raw', '{"result": "fake"}'])
  })

  it('may be large, within a bound', async () => {
    expect(await result('result = "x" * (20 << 20)')).toHaveLength(20 << 20)
    expect((await python('result = "x" * (65 << 20)')).error).toMatchObject({ kind: 'schema' })
  })
})

describe('code', () => {
  it('that raises is an error with its type, and the traceback in stderr', async () => {
    const envelope = await python('def f():\n    raise ValueError("no good")\nf()')
    expect(envelope).toMatchObject({
      status: 'error',
      error: {
        kind: 'exception',
        code: 'PY_ValueError',
        message: 'ValueError: no good',
        exception_type: 'ValueError',
        source: 'python',
      },
    })
    expect(envelope.stderr).toBe(
      'Traceback (most recent call last):\n  File "<step fetch>", line 3, in <module>\n    f()\n' +
        '  File "<step fetch>", line 2, in f\n    raise ValueError("no good")\nValueError: no good\n',
    )
  })

  it('that cannot be read says where', async () => {
    const { error, stderr } = await python('x = = 1')
    expect(error).toMatchObject({ code: 'PY_SyntaxError' })
    expect(stderr).toContain('x = = 1')
  })

  it('that leaves with a code, or is killed, is an error', async () => {
    expect((await python('import sys\nsys.exit(3)')).error).toMatchObject({ code: 'PY_SystemExit', exit_code: 3 })
    expect((await python('os._exit(4)')).error).toMatchObject({ code: 'EXIT_4', exit_code: 4 })
    expect((await python('import signal\nos.kill(os.getpid(), signal.SIGKILL)')).error).toMatchObject({
      code: 'SIGNAL_9',
    })
    expect((await python('import ctypes\nctypes.string_at(0)')).error).toMatchObject({ code: 'SIGNAL_11' })
  })

  it('may come from a file of the data folder or from an address', async () => {
    await writeFile(join(tools.folder, 'hello.py'), 'def main(name, count):\n    return [name] * count\n')
    const input = { name: 'Ada', count: 2 }
    const file = { kind: 'python', script: { uri: './hello.py', source: { type: 'file' } }, input }
    expect((await tools.tool(file)).data).toEqual(['Ada', 'Ada'])
    const http = {
      kind: 'python',
      script: { uri: 'hello.py', source: { type: 'http', endpoint: server.url('/scripts') } },
      input,
    }
    expect((await tools.tool(http)).data).toEqual({ from: 'http', name: 'Ada' })
    expect(server.seen.at(-1)?.url).toBe('/scripts/hello.py')
    for (const uri of ['../../../../etc/passwd', '/etc/passwd', 'missing.py']) {
      const { error } = await tools.tool({ kind: 'python', script: { uri, source: { type: 'file' } } })
      expect(error?.['kind'], uri).toMatch(/config|not_found/)
    }
  })
})

describe('output', () => {
  it('is cut at 64 KB, with its beginning, its end and a note', async () => {
    const { stdout = '', data } = await python('for i in range(100000):\n    print("line", i)\nresult = 1')
    expect(data).toBe(1)
    expect(Buffer.byteLength(stdout)).toBeLessThan(66_000)
    expect(stdout.startsWith('line 0\n')).toBe(true)
    expect(stdout.endsWith('line 99999\n')).toBe(true)
    expect(stdout).toMatch(/\[… \d+ bytes of output left out here …\]/)
  })

  it('is heard line by line as it comes', async () => {
    const lines: string[] = []
    await python(
      'print("one")\nprint("two", end="")',
      {},
      {},
      { options: { onLine: (stream, line) => void lines.push(`${stream} ${line}`) } },
    )
    expect(lines).toEqual(['stdout one', 'stdout two'])
  })

  it('may be no text at all', async () => {
    const { stdout, data } = await python('os.write(1, bytes(range(256)))\nresult = 1')
    expect(data).toBe(1)
    expect(stdout).not.toContain('\0')
  })
})

describe('a time limit', () => {
  it('ends code that never ends, and keeps what it printed', async () => {
    const envelope = await python('print("begun")\nwhile True: pass', {}, { timeout: 0.5 })
    expect(envelope).toMatchObject({
      status: 'timeout',
      stdout: 'begun\n',
      error: { kind: 'timeout', message: 'python did not end within 0.5 s' },
    })
  })

  it('kills code that does not listen, five seconds later', async () => {
    const code = 'import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)'
    const { status, duration_ms: durationMs } = await python(code, {}, { timeout_seconds: 0.5 })
    expect(status).toBe('timeout')
    expect(durationMs).toBeGreaterThan(5_000)
  })

  it('lets code that listens end by itself', async () => {
    const code =
      'import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: (print("closing"), sys.exit(0)))\nprint("ready", flush=True)\ntime.sleep(60)'
    const { status, stdout } = await python(code, {}, { timeout: 2 })
    expect([status, stdout]).toEqual(['timeout', 'ready\nclosing\n'])
  })
})

describe('nothing', () => {
  it('of one call is seen by another', async () => {
    await result(
      'import sys, builtins\nbuiltins.left = 1\nos.environ["LEFT"] = "1"\nos.chdir("/")\nsys.path.append("/left")\njson.left = 1\nresult = 1',
    )
    const code =
      'import sys\nresult = ["left" in dir(__builtins__), "LEFT" in os.environ, os.getcwd(), "/left" in sys.path, hasattr(json, "left")]'
    expect(await result(code)).toEqual([false, false, tools.folder, false, false])
    const numbers = await Promise.all(
      Array.from({ length: 5 }, () => result('import random\nresult = random.random()')),
    )
    expect(new Set(numbers.map(String)).size).toBe(5)
  })

  it.each<[string, string]>([
    ['a child in the background', 'import subprocess\nresult = subprocess.Popen(["sleep", "600"]).pid'],
    [
      'a child in a session of its own',
      'import subprocess\nresult = subprocess.Popen(["sleep", "600"], start_new_session=True).pid',
    ],
    [
      'a daemon',
      'import time\nr, w = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n    pid = os.fork()\n    if pid == 0:\n        time.sleep(600)\n    os.write(w, str(pid).encode())\n    os._exit(0)\nresult = int(os.read(r, 20))',
    ],
    [
      'a child that ignores signals',
      'import signal, time\npid = os.fork()\nif pid == 0:\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    while True: time.sleep(1)\nresult = pid',
    ],
  ])('is left of %s', async (_, code) => {
    const pid = (await result(code)) as number
    expect(pid).toBeGreaterThan(1)
    expect(isAlive(pid)).toBe(false)
  })

  it('is left of a bomb of forks', async () => {
    const code =
      'import time\nfor _ in range(7):\n    os.fork()\n    os.setsid() if os.getpid() != os.getsid(0) else None\ntime.sleep(600)'
    expect((await python(code, {}, { timeout: 3 })).status).toBe('timeout')
    await until('all are gone', () => waiting() <= 8)
  })

  it('is left when code kills its guardian, and the next call works', async () => {
    const code = 'import time\nprint(os.getpid(), flush=True)\nos.kill(os.getppid(), 9)\ntime.sleep(600)'
    const { error, stdout = '' } = await python(code)
    expect(error).toMatchObject({ code: 'PYTHON_LOST' })
    await until('the code is gone', () => !isAlive(Number.parseInt(stdout, 10)))
    expect(await result('result = 1')).toBe(1)
  })

  it('is lost when the fork server is killed: calls that run go on, the next starts another', async () => {
    const lines: string[] = []
    const options = { onLine: (_: string, line: string) => void lines.push(line) }
    const slow = python('import time\nprint("up", flush=True)\ntime.sleep(3)\nresult = "done"', {}, {}, { options })
    await until('the call runs', () => lines.includes('up'))
    const forkServer = processTree(process.pid)[1] as number
    process.kill(forkServer, 'SIGKILL')
    await until('it is gone', () => !isAlive(forkServer))
    expect(await result('result = "again"')).toBe('again')
    expect((await slow).data).toBe('done')
  })

  it('outlives the worker that is killed', async () => {
    const worker = await startLoneWorker({
      kind: 'python',
      code: 'import subprocess\nprint(os.getpid(), subprocess.Popen(["sleep", "600"], start_new_session=True).pid, flush=True)\nimport time\ntime.sleep(600)',
    })
    const pids = (await worker.firstLine()).split(' ').map(Number)
    expect(pids.every(isAlive)).toBe(true)
    worker.kill()
    await until('all of it is gone', () => pids.every((pid) => !isAlive(pid)))
  })

  it('of many calls stays: processes, descriptors', async () => {
    await result('result = 1')
    const before = { processes: waiting(), descriptors: readdirSync('/proc/self/fd').length }
    for (let round = 0; round < 15; round++) {
      await Promise.all(Array.from({ length: 8 }, (_, index) => result('result = i', { i: index })))
    }
    await until('all guardians are gone', () => waiting() <= before.processes + 1)
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before.descriptors + 3)
  })
})

describe('an interpreter', () => {
  it('that is not there is named, with a next step', async () => {
    const { error } = await python('result = 1', {}, { python: '/nowhere/python3' })
    expect(error).toMatchObject({ kind: 'config', message: expect.stringContaining('NOETL_CP_WORKER_PYTHON') })
  })

  it('whose folder cannot be removed is started again, and stops', async () => {
    const before = process.env['TMPDIR']
    const base = await mkdtemp(join(tmpdir(), 'noetl-cp-test-'))
    const unremovable = join(base, 'a')
    const forkServer = createForkServer({ program: 'python3', environment: { PATH: process.env['PATH'] ?? '' } })
    const ours = () => processTree(process.pid).filter((pid) => readCommandLine(pid).includes(unremovable))
    try {
      for (let round = 1; round <= 2; round++) {
        await mkdir(unremovable)
        process.env['TMPDIR'] = unremovable
        await forkServer.warm()
        await rename(unremovable, join(base, `gone${round}`))
        await writeFile(unremovable, 'a file where the folder of the folder was')
        if (round === 2) break
        const [pid] = ours()
        process.kill(pid!, 'SIGKILL')
        await until('its end is noticed', () =>
          forkServer.warm().then(
            () => false,
            () => true,
          ),
        )
        await rm(unremovable)
      }
      await forkServer.close()
      await until('nothing of it is left', () => ours().length === 0)
    } finally {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
      await rm(base, { recursive: true, force: true })
    }
  })
})

function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It has ended.
    return ''
  }
}
