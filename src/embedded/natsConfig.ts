// The configuration of the embedded nats-server: written at every start, read by `doctor`, which asks no port for it.

import { join } from 'node:path'
import { type FileOwner, readIfPresent, replaceFile } from './atomicFile.js'
import { LOOPBACK } from './ports.js'

export interface NatsConfig {
  serverName: string
  port: number
  token: string
}

/** `jetstream` in the folder is the store: nats-server adds that name by itself. */
export function natsPaths(folder: string): { config: string; store: string } {
  return { config: join(folder, 'nats-server.conf'), store: join(folder, 'jetstream') }
}

/** There is no monitoring port: whoever is on this machine could read subjects, connections and accounts there. */
export async function writeNatsConfig(folder: string, config: NatsConfig, owner: FileOwner): Promise<void> {
  // The config grammar takes JSON strings as they are.
  const quoted = JSON.stringify
  const lines = [
    '# Written at every start of noetl-cp; changes here are lost.',
    `server_name: ${quoted(config.serverName)}`,
    `listen: ${quoted(`${LOOPBACK}:${config.port}`)}`,
    `authorization { token: ${quoted(config.token)} }`,
    `jetstream { store_dir: ${quoted(folder)} }`,
    '',
  ]
  await replaceFile(natsPaths(folder).config, lines.join('\n'), owner)
}

/** Whether a message is on disk before it is acknowledged; undefined when there is no such file. */
export async function syncsAlways(configFile: string): Promise<boolean | undefined> {
  const text = await readIfPresent(configFile)
  return text === undefined ? undefined : /^[^#\n]*\bsync_interval[:= \t"]*always\b/m.test(text)
}
