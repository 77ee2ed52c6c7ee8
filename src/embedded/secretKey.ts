// The installation's secret key of an embedded instance: made at its first start, kept in the data folder with mode
// 0600, one key per line with the newest first. A file of its own, because the other secrets can be made anew and
// this one cannot: what was sealed with it stays closed without it.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { CpError } from '../errors.js'
import { createFile, readIfPresent, readPrivate } from './atomicFile.js'

const KEY_BYTES = 32
const KEY_PATTERN = /^\S{32,}$/

export function secretKeyPath(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

/** Makes the first key if there is none. */
export async function loadSecretKeys(dataDir: string): Promise<string[]> {
  const path = secretKeyPath(dataDir)
  await createFile(path, `${randomBytes(KEY_BYTES).toString('base64url')}\n`)
  return keysOf(await readPrivate(path), path)
}

/** Those that are there; none when the folder has none yet. */
export async function readSecretKeys(dataDir: string): Promise<string[]> {
  const path = secretKeyPath(dataDir)
  return keysOf(await readIfPresent(path), path)
}

function keysOf(text: string | undefined, path: string): string[] {
  const keys = (text ?? '').split(/\s+/).filter((line) => line !== '')
  if (keys.some((key) => !KEY_PATTERN.test(key))) {
    throw new CpError(
      'corrupt',
      `${path} cannot be used: every line must be a key of 32 characters or more. Restore it from a backup; what was sealed with a lost key cannot be read again`,
    )
  }
  return keys
}
