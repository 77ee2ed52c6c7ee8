// Seals what may only be read inside this installation: AES-256-GCM under the installation's secret key, with the id
// of the key in front, so that a key can be replaced while older values stay readable. What is sealed is bound to
// its place: a sealed text that was moved elsewhere cannot be opened there.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { CpError } from '../../errors.js'

export interface Keyring {
  /** The key that seals; undefined when the installation has none, and nothing can be sealed. */
  readonly sealingKeyId: string | undefined
  /** Every key that opens. */
  readonly keyIds: readonly string[]
  /** `place`: what the text belongs to, such as an event of an execution. */
  seal(bytes: Uint8Array, place: string): string
  open(sealed: string, place: string): Buffer
}

const FORM = /^v1\.([0-9a-f]{12})\.([A-Za-z0-9_-]+)$/
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** The first key seals, every one opens. Any text will do that cannot be guessed: 32 characters or more. */
export function createKeyring(secretKeys: readonly string[]): Keyring {
  const keys = new Map(
    secretKeys.map((secret) => [derive(secret, 'key id', 6).toString('hex'), derive(secret, 'seal', KEY_BYTES)]),
  )
  const [first] = keys
  return {
    sealingKeyId: first?.[0],
    keyIds: [...keys.keys()],
    seal: (bytes, place) => {
      if (first === undefined) throw new CpError('config', `nothing can be sealed: ${NO_KEY}`)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', first[1], nonce).setAAD(Buffer.from(place))
      const sealed = Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
      return `v1.${first[0]}.${sealed.toString('base64url')}`
    },
    open: (text, place) => {
      const [, id, body] = FORM.exec(text) ?? []
      if (id === undefined || body === undefined)
        throw new CpError('corrupt', `the sealed value of ${place} is damaged`)
      const key = keys.get(id)
      if (key === undefined) {
        throw new CpError('config', `the value of ${place} was sealed with key ${id}, which is not at hand; ${NO_KEY}`)
      }
      return decrypt(Buffer.from(body, 'base64url'), key, place)
    },
  }
}

const NO_KEY = 'give this process the secret key of the installation (NOETL_CP_SECRET_KEY, older keys after it)'

function decrypt(sealed: Buffer, key: Buffer, place: string): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new CpError('corrupt', `the sealed value of ${place} is cut off`)
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES)), decipher.final()])
  } catch (error) {
    throw new CpError('corrupt', `the sealed value of ${place} was changed, or belongs to something else`, {
      cause: error,
    })
  }
}

function derive(secret: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `noetl-cp ${purpose} 1`, bytes))
}
