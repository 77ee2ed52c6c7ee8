// Reads flags, environment and file into one frozen Config, or fails with every problem at once.
// Flag beats environment beats file beats default. Nothing else in the program looks at the environment.
import { readFileSync } from 'node:fs'
import { parse as parseYaml } from 'yaml'
import { CpError, messageOf } from '../errors.js'
import { nearest } from '../runtime/nearest.js'
import { type Config, KEYS, type KeyName, type Setting } from './keys.js'
import { type SecretLookup, secretLookup } from './secrets.js'

export type Environment = Readonly<Record<string, string | undefined>>
export type Flags = Readonly<Record<string, string | undefined>>

export interface Origin {
  source: 'flag' | 'env' | 'file' | 'default'
  /** The flag, variable or file the value came from. */
  name: string
}

export interface LoadedConfig {
  config: Config
  origins: Record<KeyName, Origin>
  /** Harmless oddities, such as a misspelt variable of ours. */
  warnings: string[]
  /** The secret behind an alias of a catalog entry. */
  secretOf: SecretLookup
}

export const KEY_NAMES = Object.keys(KEYS) as KeyName[]
export const CONFIG_FILE_ENV = 'NOETL_CP_CONFIG'

interface Raw {
  text: string
  origin: Origin
}

export function loadConfig(env: Environment, flags: Flags = {}): LoadedConfig {
  const problems: string[] = []
  const filePath = flags['config'] ?? env[CONFIG_FILE_ENV]
  const file = filePath === undefined ? {} : readConfigFile(filePath, problems)
  const values: Record<string, unknown> = {}
  const origins = {} as Record<KeyName, Origin>

  for (const key of KEY_NAMES) {
    const setting: Setting<unknown> = KEYS[key]
    values[key] = setting.default
    origins[key] = { source: 'default', name: '' }
    try {
      const raw = rawValue(key, setting, env, flags, file, filePath)
      if (raw === undefined) continue
      origins[key] = raw.origin
      values[key] = parseNamed(setting, raw)
    } catch (error) {
      problems.push(messageOf(error))
    }
  }
  for (const key of KEY_NAMES.filter((name) => name.endsWith('Seconds'))) {
    values[key.replace(/Seconds$/, 'Ms')] = Math.round(Number(values[key]) * 1000)
  }
  problems.push(...contradictions(values as Config))
  if (problems.length > 0) {
    throw new CpError('config', `bad configuration:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`, {
      details: { problems },
    })
  }
  const config = Object.freeze(values) as Config
  return { config, origins, warnings: unknownNames(env), secretOf: secretLookup(env, config.secretsDir) }
}

function rawValue(
  key: KeyName,
  setting: Setting<unknown>,
  env: Environment,
  flags: Flags,
  file: Record<string, string>,
  filePath: string | undefined,
): Raw | undefined {
  if (setting.flag !== undefined) {
    const text = flags[setting.flag]
    if (text !== undefined) return { text, origin: { source: 'flag', name: `--${setting.flag}` } }
  }
  for (const name of [setting.env, ...setting.envAliases]) {
    const text = env[name]
    const fromFile = setting.secret ? env[`${name}_FILE`] : undefined
    const hasText = text !== undefined && text !== ''
    const hasFile = fromFile !== undefined && fromFile !== ''
    if (hasText && hasFile) throw new Error(`${name} and ${name}_FILE are both set; keep one`)
    if (hasText) return { text, origin: { source: 'env', name } }
    if (hasFile) return { text: readSecret(`${name}_FILE`, fromFile), origin: { source: 'env', name: `${name}_FILE` } }
  }
  const text = file[key]
  return text === undefined ? undefined : { text, origin: { source: 'file', name: filePath ?? '' } }
}

function parseNamed(setting: Setting<unknown>, raw: Raw): unknown {
  try {
    return setting.parser.parse(raw.text)
  } catch (error) {
    const name = raw.origin.source === 'file' ? `${setting.env} (from ${raw.origin.name})` : raw.origin.name
    throw new Error(`${name} ${messageOf(error)}`)
  }
}

function readSecret(name: string, path: string): string {
  try {
    // Editors and `echo` end a file with a newline that is not part of the secret.
    return readFileSync(path, 'utf8').replace(/(?<![\r\n])[\r\n]+$/, '')
  } catch (error) {
    throw new Error(`${name}: cannot read ${path}: ${messageOf(error)}`)
  }
}

const CONFIG_FILE_LENGTH_MAX = 65_536

function readConfigFile(path: string, problems: string[]): Record<string, string> {
  const result: Record<string, string> = {}
  let document: unknown
  try {
    const text = readFileSync(path, 'utf8')
    // The YAML library takes quadratic time for many keys; no file of settings comes near.
    if (text.length > CONFIG_FILE_LENGTH_MAX) throw new Error(`is longer than ${CONFIG_FILE_LENGTH_MAX} characters`)
    // Every value is read as the text it was written as: YAML would turn a token 0123 into the number 123.
    // Pretty errors quote the line, which may hold a secret.
    document = parseYaml(text, { schema: 'failsafe', prettyErrors: false, maxAliasCount: 10 })
  } catch (error) {
    problems.push(`config file ${path}: ${messageOf(error)}`)
    return result
  }
  if (document === null || document === undefined) return result
  if (typeof document !== 'object' || Array.isArray(document)) {
    problems.push(`config file ${path}: must be a mapping of setting names to values`)
    return result
  }
  for (const [written, value] of Object.entries(document)) {
    // Files of older versions have the names without their unit.
    const key = written in KEYS ? written : `${written}Seconds`
    if (!(key in KEYS)) {
      const hint = nearest(written, KEY_NAMES)
      problems.push(
        `config file ${path}: unknown setting ${written}${hint === undefined ? '' : `; did you mean ${hint}?`}`,
      )
    } else if (Array.isArray(value)) {
      result[key] = value.map(String).join(',')
    } else if (value !== null && typeof value === 'object') {
      problems.push(`config file ${path}: ${written} must be a single value`)
    } else if (value !== null && value !== '') {
      result[key] = String(value)
    }
  }
  return result
}

/** Settings that are fine alone and wrong together. */
function contradictions(config: Config): string[] {
  const problems: string[] = []
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    problems.push('NOETL_TLS_CERT and NOETL_TLS_KEY belong together; set both or neither')
  }
  if (config.tlsClientCa !== undefined && config.tlsCert === undefined) {
    problems.push('NOETL_TLS_CLIENT_CA needs NOETL_TLS_CERT and NOETL_TLS_KEY')
  }
  if ((config.natsTlsCert === undefined) !== (config.natsTlsKey === undefined)) {
    problems.push('NOETL_NATS_TLS_CERT and NOETL_NATS_TLS_KEY belong together; set both or neither')
  }
  if (config.natsToken !== undefined && config.natsUser !== undefined) {
    problems.push('NOETL_NATS_TOKEN and NOETL_NATS_USER exclude each other; keep one')
  }
  return problems
}

function unknownNames(env: Environment): string[] {
  const known = new Set<string>([CONFIG_FILE_ENV])
  for (const key of KEY_NAMES) {
    known.add(KEYS[key].env)
    known.add(`${KEYS[key].env}_FILE`)
  }
  return Object.keys(env)
    .filter((name) => name.startsWith('NOETL_CP_') && !known.has(name))
    .sort()
    .map((name) => {
      const hint = nearest(name, [...known])
      return `unknown setting ${name}${hint === undefined ? '' : `; did you mean ${hint}?`}`
    })
}
