// Promise: kind container hands image, command, variables and limits to the docker on the PATH, shows no value of a variable
// on a command line, reports its end, and removes the container when its time is up. Docker itself is played by a script
// that writes down what it is told: there is no server for it where tests run.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { useTools } from '../support/toolRunner.js'

const folder = mkdtempSync(join(tmpdir(), 'noetl-docker-'))
afterAll(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'bin'))
const docker = join(folder, 'bin', 'docker')
writeFileSync(
  docker,
  `#!/bin/sh
printf '%s\\n' "$@" > "${folder}/$1.args"
[ "$1" = rm ] && exit 0
env > "${folder}/env"
case "$*" in
  *endless*) trap '' TERM; while :; do sleep 1; done ;;
  *missing*) echo 'Unable to find image' >&2; exit 125 ;;
  *failing*) echo 'broken' >&2; exit 3 ;;
esac
echo "hello from $1"
`,
)
chmodSync(docker, 0o755)
const tools = useTools({ environment: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, HOME: tmpdir() } })

const read = (name: string): string[] => readFileSync(join(folder, name), 'utf8').trim().split('\n')

describe('a container', () => {
  it('gets what its author wrote', async () => {
    const report = await tools.tool({
      kind: 'container',
      image: 'job:1',
      command: ['/bin/bash', '/job/run.sh'],
      args: ['--all', 'a b'],
      env: [{ name: 'PGPASSWORD', value: 'secret-of-job' }],
      resources: { limits: { cpu: '500m', memory: '512Mi' } },
    })
    expect(report).toMatchObject({
      status: 'success',
      exit_code: 0,
      data: { exit_code: 0, stdout: 'hello from run\n' },
    })
    const args = read('run.args')
    const name = args[3] as string
    expect(name).toMatch(/^noetl-[0-9a-f]{16}$/)
    expect(args).toEqual([
      ...['run', '--rm', '--name', name, '--cpus', '0.5', '--memory', '512m', '--env', 'PGPASSWORD'],
      ...['--entrypoint', '/bin/bash', 'job:1', '/job/run.sh', '--all', 'a b'],
    ])
    expect(read('env')).toContain('PGPASSWORD=secret-of-job')
    expect(tools.kinds()).toContain('container')
  })

  it('is asked for of the same server and by the same program, whatever variables its author gives it', async () => {
    const env = {
      HOME: '/job',
      PATH: '/job/bin',
      DOCKER_HOST: 'tcp://elsewhere',
      LD_PRELOAD: '/data/x.so',
      TOKEN: 'hidden',
    }
    expect((await tools.tool({ kind: 'container', image: 'job:1', env })).status).toBe('success')
    const told = read('env').filter((line) => /^(HOME|PATH|DOCKER_HOST|LD_PRELOAD|TOKEN)=/.test(line))
    expect(told.sort()).toEqual([`HOME=${tmpdir()}`, `PATH=${join(folder, 'bin')}:/usr/bin:/bin`, 'TOKEN=hidden'])
    const given = read('run.args').filter((_, index, all) => all[index - 1] === '--env')
    expect(given).toEqual([
      ...['HOME=/job', 'PATH=/job/bin', 'DOCKER_HOST=tcp://elsewhere', 'LD_PRELOAD=/data/x.so', 'TOKEN'],
    ])
  })

  it('that fails, or cannot start, is an error with the last words', async () => {
    const failing = await tools.tool({ kind: 'container', image: 'failing' })
    expect(failing.error).toMatchObject({
      kind: 'exception',
      code: 'EXIT_3',
      message: 'the container left with exit code 3: broken',
    })
    const missing = await tools.tool({ kind: 'container', image: 'missing' })
    expect(missing.error).toMatchObject({ message: 'the container did not start: Unable to find image' })
    expect((await tools.tool({ kind: 'container', image: '--privileged' })).error).toMatchObject({ kind: 'config' })
  })

  it('whose time is up is removed', async () => {
    const { status } = await tools.tool({ kind: 'container', image: 'endless', timeout: 0.5 })
    expect(status).toBe('timeout')
    expect(read('rm.args')).toEqual(['rm', '--force', read('run.args')[3]])
  })
})

describe('without docker or podman', () => {
  const bare = useTools({ environment: { PATH: '/nowhere' } })
  it('says so', async () => {
    expect((await bare.tool({ kind: 'container', image: 'a' })).error).toMatchObject({ kind: 'unsupported' })
  })
})
