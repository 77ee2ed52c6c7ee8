// Builds the context of one command run: settings, instance and connections on demand, closed at the end.
import { homedir } from 'node:os'
import { type Environment, type Flags, type LoadedConfig, loadConfig } from '../config/load.js'
import type { Deps } from '../daemon/deps.js'
import { type SecretRules, secretRules } from '../domain/secrets/secretNames.js'
import { defaultDataDir } from '../embedded/defaultDataDir.js'
import { CpError, toCpError } from '../errors.js'
import type { Act } from '../services/access/acts.js'
import type { CommandContext } from './command.js'
import { findInstance, type Instance } from './instance.js'
import { type Io, print, wantsColor } from './io.js'
import { notOverHttp } from './remote.js'

export interface ContextOptions {
  io: Io
  env: Environment
  flags: Flags
  isJson: boolean
  isQuiet: boolean
  commandName: string
  /** Why the command cannot work over --url. */
  localBecause: string | undefined
  /** Put on record before the command gets at any database. */
  act: Act | undefined
}

const CLOSE_DEADLINE_MS = 3_000
const CONNECTIONS_MAX = 4

/** How a command ended: with an error, or not. */
export type Ending = CpError | undefined

export function createContext(options: ContextOptions): CommandContext & { close(ending: Ending): Promise<void> } {
  const { io, env, flags } = options
  const color = wantsColor(io.stdout, env)
  let loaded: LoadedConfig | undefined
  let instance: Promise<Instance> | undefined
  let deps: Promise<Deps> | undefined
  let endRecord: ((ending: Ending) => Promise<void>) | undefined

  function config(): LoadedConfig {
    if (loaded === undefined) {
      loaded = loadConfig(env, flags)
      if (!options.isQuiet) for (const warning of loaded.warnings) print(io.stderr, `warning: ${warning}`)
    }
    return loaded
  }

  function dataDir(): string {
    return (
      config().config.dataDir ??
      defaultDataDir({ uid: io.getuid?.() ?? -1, home: env['HOME'] ?? homedir(), xdgDataHome: env['XDG_DATA_HOME'] })
    )
  }

  /** Commands that need no settings must work with bad ones. */
  function rules(): SecretRules | null {
    try {
      const { redact, redactKeys } = config().config
      return redact ? secretRules(redactKeys) : null
    } catch {
      return secretRules()
    }
  }

  function findOnce(): Promise<Instance> {
    instance ??= findInstance(config(), dataDir())
    return instance
  }

  async function open(): Promise<Deps> {
    if (config().config.remoteUrl !== undefined) throw notOverHttp(options.commandName, options.localBecause)
    const { endpoints, reachedBy, httpUrl } = await findOnce()
    if (reachedBy === 'http') {
      throw new CpError('refused', `only the address of that daemon is known, not its database; say --url ${httpUrl}`)
    }
    // Read when they are needed: most of what a short command would wait for.
    const [{ openDeps }, { createLog }] = await Promise.all([import('../daemon/deps.js'), import('../runtime/log.js')])
    const log = createLog({
      level: config().origins.logLevel.source === 'default' ? 'error' : config().config.logLevel,
      format: config().config.logFormat,
      isTerminal: io.stderr.isTTY === true,
      color: wantsColor(io.stderr, env),
      stream: io.stderr,
    })
    const opened = openDeps({
      config: config().config,
      endpoints,
      log,
      applicationName: `noetl-cp ${options.commandName}`,
      connectionsMax: CONNECTIONS_MAX,
    })
    await opened.bus?.start()
    if (options.act !== undefined) {
      endRecord = await recordOf(opened, options.act, (error) =>
        print(io.stderr, `done, but its record could not be completed: ${error.message}`),
      ).catch(async (error: unknown) => {
        await opened.close(CLOSE_DEADLINE_MS)
        throw error
      })
    }
    return opened
  }

  const opened = (): Promise<Deps> => {
    deps ??= open()
    return deps
  }

  return {
    io,
    env,
    isJson: options.isJson,
    isQuiet: options.isQuiet,
    color,
    config,
    dataDir,
    secretRules: rules,
    instance: findOnce,
    deps: opened,
    recorded: async () => {
      const isKnown = config().config.remoteUrl === undefined && (await findOnce()).reachedBy === 'servers'
      if (options.act !== undefined && isKnown) await opened()
    },
    close: async (ending) => {
      const ready = await deps?.catch(() => undefined)
      await endRecord?.(ending)
      await ready?.close(CLOSE_DEADLINE_MS)
    },
  }
}

/** Writes the first half of the record; answers what writes the second. */
async function recordOf(
  deps: Deps,
  act: Act,
  onUnfinished: (error: CpError) => void,
): Promise<(ending: Ending) => Promise<void>> {
  const { createActs } = await import('../services/access/acts.js')
  const acts = createActs({ databases: deps.databases, secretRules: deps.secretRules, onUnfinished })
  return new Promise((begun, refused) => {
    const record = acts.around(
      act,
      () =>
        new Promise<void>((done, failed) => {
          begun(async (ending) => {
            if (ending === undefined) done()
            else failed(ending)
            await record.catch(() => undefined)
          })
        }),
    )
    record.catch((error: unknown) => refused(toCpError(error)))
  })
}
