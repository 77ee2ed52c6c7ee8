// Promise: what lies under deploy/ is well formed and fits the program: Kubernetes knows every field, every setting is
// in the table of settings, every route and port exists, every secret that is used is named in the instructions, and
// systemd understands its units. Nothing here can start a container: there may be no engine.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { KEYS } from '../../src/config/keys.js'
import { loadConfig } from '../../src/config/load.js'
import { parseTopology } from '../../src/domain/shards/topology.js'
import { healthRoutes } from '../../src/http/routes/health/health.js'
import { systemClock } from '../../src/runtime/clock.js'
import { type Manifest, ROOT, readManifests, readText, readYaml } from './deployFiles.js'

const SETTINGS = new Set<string>(
  Object.values(KEYS).flatMap(({ env, envAliases }) => [env, `${env}_FILE`, ...envAliases]),
)
const unknownSettings = (names: Iterable<string>): string[] => [...names].filter((name) => !SETTINGS.has(name))

const kubernetes = readManifests('deploy/kubernetes')
const sharded = readManifests('deploy/kubernetes-sharded')
const keda = readManifests('deploy/keda')
const kustomization = readText('deploy/kubernetes/kustomization.yaml')
const ofKind = (kind: string): Manifest[] => kubernetes.filter((manifest) => manifest.kind === kind)
const podSpecs = kubernetes.flatMap((manifest) => manifest['spec']?.template?.spec ?? [])

/** Kind → its type in kubernetes-types; KEDA's own are spelled out as far as we use them. */
const TYPES: Readonly<Record<string, string>> = {
  Deployment: "import('kubernetes-types/apps/v1').Deployment",
  StatefulSet: "import('kubernetes-types/apps/v1').StatefulSet",
  Job: "import('kubernetes-types/batch/v1').Job",
  Service: "import('kubernetes-types/core/v1').Service",
  ConfigMap: "import('kubernetes-types/core/v1').ConfigMap",
  NetworkPolicy: "import('kubernetes-types/networking/v1').NetworkPolicy",
  PodDisruptionBudget: "import('kubernetes-types/policy/v1').PodDisruptionBudget",
  TriggerAuthentication:
    '{ apiVersion: "keda.sh/v1alpha1", kind: string, metadata: { name: string }, spec: { secretTargetRef: { parameter: string, name: string, key: string }[] } }',
  ScaledObject:
    '{ apiVersion: "keda.sh/v1alpha1", kind: string, metadata: { name: string }, spec: { scaleTargetRef: { name: string }, minReplicaCount: number, maxReplicaCount: number, pollingInterval: number, cooldownPeriod: number, fallback?: { failureThreshold: number, replicas: number }, triggers: ({ authenticationRef: { name: string } } & ({ type: "metrics-api", metadata: { url: string, valueLocation: string, targetValue: string, activationTargetValue?: string, authMode: "bearer" } } | { type: "postgresql", metadata: { query: string, targetQueryValue: string, activationTargetQueryValue?: string } }))[] } }',
}

/** As an object literal a manifest is held to its type: fields that do not exist and types that do not fit are errors. */
function typeErrors(manifests: readonly object[]): string {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.deploy-types-'))
  try {
    const lines = manifests.map((manifest, index) => {
      const { file: _, ...document } = manifest as Manifest
      return `export const m${index}: ${TYPES[document.kind]} = ${JSON.stringify(document, null, 1)}\n`
    })
    writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'))
    const args = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--ignoreConfig',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--types',
      'node',
    ]
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...args, join(folder, 'manifests.ts')], { encoding: 'utf8' })
    return ''
  } catch (error) {
    return String((error as { stdout?: string }).stdout)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('Kubernetes', () => {
  const manifests = [...kubernetes, ...sharded, ...keda].filter(({ kind }) => kind !== 'Kustomization')

  it('knows every kind and every field', () => {
    expect(manifests.filter(({ kind }) => TYPES[kind] === undefined)).toEqual([])
    expect(typeErrors(manifests)).toBe('')
  })
  it('would not accept a misspelt field, which shows that this test can fail', () => {
    const [deployment] = structuredClone(ofKind('Deployment'))
    deployment!['spec'].template.spec.containers[0].readinesProbe = {}
    expect(typeErrors([deployment!])).toMatch(/readinesProbe.* does not exist in type 'Container'/)
    const [scaled] = structuredClone(ofKind('ScaledObject'))
    scaled!['spec'].triggers[0].metadata.targetValue = 500
    expect(typeErrors([scaled!])).toContain('not assignable')
  })
  it('applies every file of the folder', () => {
    const files = readdirSync(`${ROOT}/deploy/kubernetes`).filter((name) => name !== 'kustomization.yaml')
    expect(readYaml('deploy/kubernetes/kustomization.yaml').resources.sort()).toEqual(files.sort())
  })
  it('gets settings that exist, and secrets that the instructions make', () => {
    const names = podSpecs.flatMap(({ containers }) => containers.flatMap(({ env }: any) => env ?? []))
    expect(unknownSettings(names.map(({ name }: any) => name))).toEqual([])
    expect(unknownSettings(ofKind('ConfigMap').flatMap(({ data }) => Object.keys(data)))).toEqual([])
    const references = [
      ...names.flatMap(({ valueFrom }: any) => valueFrom?.secretKeyRef ?? []),
      ...ofKind('TriggerAuthentication').flatMap(({ spec }) => spec.secretTargetRef),
    ]
    expect(references.length).toBeGreaterThan(4)
    for (const { name, key } of references) {
      expect(name).toBe('noetl-cp')
      expect(kustomization).toContain(`--from-literal=${key}=`)
    }
  })
  it('probes routes that exist, on the port that is named, and finds the pods', () => {
    const [deployment] = ofKind('Deployment')
    const [container] = deployment!['spec'].template.spec.containers
    const routes = healthRoutes({ health: {} as never, clock: systemClock, version: '', clusterId: '', startedAt: 0 })
    const open = routes.filter(({ access }) => access === 'open').map(({ path }) => path)
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      expect(open).toContain(container[probe].httpGet.path)
      expect(container.ports.map(({ name }: any) => name)).toContain(container[probe].httpGet.port)
    }
    expect(container.livenessProbe.httpGet.path).toBe('/livez')
    expect(container.ports[0].containerPort).toBe(KEYS.httpPort.default)
    const labels = deployment!['spec'].template.metadata.labels
    expect(labels).toMatchObject(deployment!['spec'].selector.matchLabels)
    expect(labels).toMatchObject(ofKind('Service')[0]!['spec'].selector)
    expect(labels).toMatchObject(ofKind('PodDisruptionBudget')[0]!['spec'].selector.matchLabels)
    expect(ofKind('ScaledObject')[0]!['spec'].scaleTargetRef.name).toBe(deployment!.metadata.name)
  })
  it('runs nothing as root, and gives every stop its time', () => {
    expect(podSpecs).toHaveLength(2)
    for (const { securityContext, containers } of podSpecs) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      for (const container of containers) {
        expect(container.securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources.limits.memory).toBeDefined()
      }
    }
    const shutdown = Number(ofKind('ConfigMap')[0]!['data'].NOETL_CP_SHUTDOWN_TIMEOUT)
    expect(podSpecs.find(({ terminationGracePeriodSeconds }) => terminationGracePeriodSeconds)).toSatisfy(
      ({ terminationGracePeriodSeconds }) => terminationGracePeriodSeconds > shutdown + 5,
    )
  })
})

describe('the sharded layout of Kubernetes', () => {
  const set = sharded.find(({ kind }) => kind === 'StatefulSet')!
  const podOf = (manifest: Manifest) => manifest['spec'].template.spec
  const environment: { name: string; value?: string; valueFrom?: any }[] = podOf(set).containers[0].env

  it('gives each pod the share of its number, and the machine id to nobody but the lease', () => {
    const value = (name: string) => environment.find((entry) => entry.name === name)?.value
    expect(unknownSettings(environment.map(({ name }) => name))).toEqual([])
    expect(value('NOETL_SHARD_COUNT')).toBe(String(set['spec'].replicas))
    for (let pod = 0; pod < set['spec'].replicas; pod += 1) {
      const shares = parseTopology({
        shards: 'host=a;user=u,host=b;user=u',
        shardCount: value('NOETL_SHARD_COUNT'),
        shardIndexFromHostname: value('NOETL_SHARD_INDEX_FROM_HOSTNAME') === 'true',
        hostname: `${set.metadata.name}-${pod}`,
        fallback: { host: 'a', port: 5432, user: 'u', password: '', database: 'd' },
      })
      expect(shares).toMatchObject({ shardIndex: pod, shardCount: set['spec'].replicas })
    }
    const everything = readdirSync(`${ROOT}/deploy/kubernetes-sharded`).map((name) =>
      readText(`deploy/kubernetes-sharded/${name}`),
    )
    expect(everything.join()).not.toContain(KEYS.machineId.env)
  })
  it('is the Deployment in everything else', () => {
    const [deployment] = ofKind('Deployment')
    const { containers, ...pod } = podOf(deployment!)
    const { containers: inSet, ...podInSet } = podOf(set)
    expect(podInSet).toEqual(pod)
    const { env, ...container } = containers[0]
    const { env: envInSet, ...containerInSet } = inSet[0]
    expect(containerInSet).toEqual(container)
    expect(envInSet).toEqual(expect.arrayContaining(env))
    expect(set['spec'].template.metadata).toEqual(deployment!['spec'].template.metadata)
    expect(set['spec'].selector).toEqual(deployment!['spec'].selector)
  })
  it('names a service, secrets and patches that fit', () => {
    const service = sharded.find(({ kind }) => kind === 'Service')!
    expect(set['spec'].serviceName).toBe(service.metadata.name)
    const { resources, patches, images } = readYaml('deploy/kubernetes-sharded/kustomization.yaml')
    expect(resources).toEqual(['../kubernetes', 'statefulset.yaml'])
    expect(images).toEqual(readYaml('deploy/kubernetes/kustomization.yaml').images)
    for (const { target } of patches)
      expect(ofKind(target.kind).map(({ metadata }) => metadata.name)).toContain(target.name)
    for (const { name, key } of environment.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []))
      expect(kustomization + readText('deploy/kubernetes-sharded/kustomization.yaml')).toMatch(
        new RegExp(`generic ${name}[\\s\\S]*--from-literal=${key}=`),
      )
  })
})

describe('the network of Kubernetes', () => {
  const policies = ofKind('NetworkPolicy')
  const templates = kubernetes.flatMap((manifest) => manifest['spec']?.template ?? [])
  const policyOf = (labels: Record<string, string>) =>
    policies.filter(({ spec }) =>
      Object.entries(spec.podSelector.matchLabels).every(([name, value]) => labels[name] === value),
    )

  it('has one policy for each pod, which opens no more than is said', () => {
    for (const { metadata } of templates) {
      const [policy, ...others] = policyOf(metadata.labels)
      expect(others).toEqual([])
      expect(policy!['spec'].policyTypes).toEqual(['Ingress', 'Egress'])
      for (const rule of [...(policy!['spec'].ingress ?? []), ...policy!['spec'].egress])
        expect(rule.ports?.length).toBeGreaterThan(0)
      for (const rule of policy!['spec'].ingress ?? []) expect(rule.from?.length).toBeGreaterThan(0)
    }
    expect(policies).toHaveLength(templates.length)
  })
  it('lets through what the settings name, and never to the metadata of the machine', () => {
    const [daemon] = policyOf({ 'app.kubernetes.io/name': 'noetl-cp' })
    const ports = daemon!['spec'].egress.flatMap((rule: any) => rule.ports.map(({ port }: any) => port))
    const { data } = ofKind('ConfigMap')[0]!
    const addresses = [...data.NOETL_NATS_URL.split(','), data.NOETL_PUBLIC_SERVER_URL]
    for (const address of addresses) expect(ports).toContain(Number(new URL(address).port))
    expect(ports).toContain(KEYS.postgresPort.default)
    for (const rule of daemon!['spec'].egress.filter(({ ports }: any) => ports.some(({ port }: any) => port === 443)))
      for (const { ipBlock } of rule.to) expect(ipBlock.except).toContain('169.254.0.0/16')
  })
})

describe('images', () => {
  const { version } = JSON.parse(readText('package.json'))
  const composed = Object.values(readYaml('deploy/compose/compose.yaml').services).map(({ image }: any) => image)
  const bases = [...readText('deploy/docker/Dockerfile').matchAll(/^FROM (\S+)/gm)].map((match) => match[1]!)

  it('have a full version: the same files give the same servers', () => {
    expect(composed.length + bases.length).toBeGreaterThan(7)
    // Postgres has two numbers since version 10.
    for (const image of [...composed, ...bases])
      expect(image).toMatch(/^(postgres:\d+\.\d+|[a-z-]+:\d+\.\d+\.\d+)(-[a-z0-9.-]+)?$/)
  })
  it('of ours are of this version', () => {
    expect(composed).toContain(`noetl-cp:${version}`)
    const { images } = readYaml('deploy/kubernetes/kustomization.yaml')
    expect(images).toEqual([{ name: 'noetl-cp', newTag: version }])
    for (const { containers } of podSpecs) for (const { image } of containers) expect(image).toBe('noetl-cp')
  })
  it('hold the packages of the lock file, or are not built', () => {
    const installs = [...readText('deploy/docker/Dockerfile').matchAll(/^RUN (npm .*)$/gm)].map((match) => match[1]!)
    expect(installs).toHaveLength(2)
    for (const line of installs) expect(line).toMatch(/&& node scripts\/installed-as-locked\.mjs( --production)?$/)
  })
})

describe('samples', () => {
  const folders = ['deploy/compose', 'deploy/docker', 'deploy/kubernetes', 'deploy/keda', 'deploy/systemd', 'docs']
  const files = ['README.md', 'deploy/README.md', 'deploy/compose/.env.example', 'deploy/systemd/noetl-cp.env.example']
  for (const folder of folders)
    files.push(
      ...readdirSync(`${ROOT}/${folder}`)
        .filter((name) => /\.(md|ya?ml|conf|service)$|^Dockerfile$/.test(name))
        .map((name) => `${folder}/${name}`),
    )
  const shown = files.flatMap((file) =>
    [...readText(file).matchAll(/(NOETL_(?:INTERNAL_)?API_TOKEN(?:_PREVIOUS)?)[ \t]*[=:][ \t]*"?([^\s"|`]*)/g)].map(
      (match) => [file, match[1]!, match[2]!] as const,
    ),
  )

  it('show a token here and there, so that this test has something to look at', () => {
    expect(shown.map(([file]) => file)).toContain('deploy/systemd/noetl-cp.env.example')
  })
  it.each(shown.filter(([, , value]) => value !== '' && !value.startsWith('$')))(
    '%s: with %s=%s nothing starts',
    (_, name, value) => {
      expect(() => loadConfig({ [name]: value })).toThrow(/openssl rand/)
    },
  )
})

describe('compose', () => {
  const { services, volumes } = readYaml('deploy/compose/compose.yaml')

  it('gives the daemon settings that exist, and names every secret in the example', () => {
    expect(unknownSettings(Object.keys(services['noetl-cp'].environment))).toEqual([])
    const used = [...readText('deploy/compose/compose.yaml').matchAll(/\$\{([A-Z_]+)/g)].map((match) => match[1]!)
    const example = [...readText('deploy/compose/.env.example').matchAll(/^([A-Z_]+)=(.*)$/gm)]
    expect([...new Set(used)].sort()).toEqual(example.map((match) => match[1]).sort())
    // Nobody runs with a secret of ours.
    expect(example.filter((match) => match[2] !== '')).toEqual([])
  })
  it('has three NATS nodes that route to each other, and as many replicas', () => {
    const nodes = Object.keys(services).filter((name) => name.startsWith('nats-'))
    expect(nodes).toHaveLength(3)
    for (const node of nodes) {
      expect(services[node]).toMatchObject({ hostname: node, command: ['-c', '/etc/nats/nats.conf'] })
      expect(services[node].environment.NATS_ROUTES).toContain(`@${node}:6222`)
      expect(services['noetl-cp'].environment.NOETL_NATS_URL).toContain(`nats://${node}:4222`)
      expect(services['noetl-cp'].depends_on[node].condition).toBe('service_healthy')
    }
    expect(services['noetl-cp'].environment.NOETL_CP_STREAM_REPLICAS).toBe('3')
    expect(Object.keys(volumes).sort()).toEqual([...nodes, 'postgres'].sort())
  })
  it('builds from files that are there', () => {
    const { context, dockerfile } = services['noetl-cp'].build
    expect(existsSync(join(ROOT, 'deploy/compose', context, dockerfile))).toBe(true)
  })
})

describe('systemd', () => {
  const units = readdirSync(`${ROOT}/deploy/systemd`).filter((name) => /\.(service|timer)$/.test(name))

  it('sets what exists', () => {
    const text = units.map((name) => readText(`deploy/systemd/${name}`)).join('\n')
    const inUnits = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(
      (match) => match[1]!.match(/[A-Z_]+(?==)/g) ?? [],
    )
    const inExample = [...readText('deploy/systemd/noetl-cp.env.example').matchAll(/^([A-Z_]+)=/gm)].map((m) => m[1]!)
    expect(inExample.length + inUnits.length).toBeGreaterThan(4)
    expect(unknownSettings([...inUnits, ...inExample])).toEqual([])
  })
  it.skipIf(!existsSync('/usr/bin/systemd-analyze'))('understands the units', () => {
    const folder = mkdtempSync(join(tmpdir(), 'noetl-cp-units-'))
    try {
      for (const name of units) {
        const text = readText(`deploy/systemd/${name}`)
        writeFileSync(join(folder, name), text.replaceAll('/usr/local/bin/noetl-cp', `${ROOT}bin/noetl-cp.js`))
      }
      const paths = units.map((name) => join(folder, name))
      expect(execFileSync('systemd-analyze', ['verify', ...paths], { encoding: 'utf8', stdio: 'pipe' })).toBe('')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
