// The one list of names that mark a secret: for what is stored, published, shown and logged. A name is read by its
// words, so that `db_password`, `githubToken` and `PGPASSWORD` are known and `author` and `tokens_used` are not.
import { rememberByText } from '../memo.js'

/** How a value under a name is treated. `text`: a number beside it is a count, as in `tokens: 512`. */
export type NameVerdict = 'open' | 'secret' | 'text'

export interface SecretRules {
  judge(name: string): NameVerdict
  /** Text under such a name is not looked into. */
  isPlain?(name: string): boolean
}

/**
 * Secret as a word of its own. `auth` is not among them: playbooks use it for the alias of a credential, and the
 * credential itself is caught by its own names.
 */
const WORDS: ReadonlySet<string> = new Set([
  ...['password', 'passwd', 'pwd', 'passphrase', 'passcode', 'secret', 'secrets', 'token', 'jwt', 'bearer'],
  ...['credential', 'credentials', 'authorization', 'cookie', 'cookies', 'dsn', 'pgpass', 'htpasswd'],
])

/** Written together with what stands before them: `PGPASSWORD`, `authtoken`, `clientsecret`. */
const ENDINGS = [
  ...['password', 'passwd', 'pwd', 'passphrase', 'secret', 'token', 'credential', 'credentials', 'authorization'],
  ...['apikey', 'privatekey', 'secretkey', 'accesskey', 'accountkey', 'signingkey', 'encryptionkey', 'masterkey'],
  ...['sharedkey', 'sshkey', 'connectionstring', 'serviceaccountjson'],
]

/** Words that stand before `key`, `string` and the like. */
const PHRASES = [
  ...['api key', 'private key', 'secret key', 'signing key', 'encryption key', 'decryption key', 'decrypt key'],
  ...['access key', 'account key', 'master key', 'shared key', 'ssh key', 'session key', 'storage key', 'hmac key'],
  ...['client key', 'gcp key', 'azure key', 'aws key', 'service account json', 'connection string', 'conn string'],
]

const PLURALS: ReadonlySet<string> = new Set(['tokens', 'passwords', 'jwts', 'passphrases'])

/** A last word that makes the name speak of the secret instead of holding it: `token_type`, `password_length`. */
const ABOUT: ReadonlySet<string> = new Set([
  ...['count', 'counts', 'used', 'usage', 'type', 'kind', 'url', 'uri', 'endpoint', 'name', 'names', 'length', 'size'],
  ...[
    'limit',
    'limits',
    'ttl',
    'expiry',
    'expires',
    'expiration',
    'age',
    'at',
    'in',
    'on',
    'policy',
    'status',
    'format',
  ],
  ...[
    'required',
    'enabled',
    'changed',
    'rotated',
    'valid',
    'version',
    'provider',
    'method',
    'algorithm',
    'scope',
    'scopes',
  ],
  ...['file', 'path', 'dir', 'field', 'column', 'hint', 'missing'],
])

/** Our own numbers of leases: they fence, and whoever claims a row needs them. */
const FENCES: ReadonlySet<string> = new Set(['lease token', 'lease tokens'])

/**
 * A name without any of these is open, and most names are: a quick look, because bodies may have hundreds of thousands of
 * them. Letters beyond ASCII may become ASCII when they are made small.
 */
const STEMS = [
  ...['pass', 'pwd', 'secret', 'token', 'jwt', 'bearer', 'credential', 'authorization', 'cookie', 'dsn'],
  ...['key', 'string', 'account', '[^\\x00-\\x7f]'],
]

/** Names may be hostile; the end of one decides. */
const NAME_LENGTH_MAX = 200
const REMEMBERED = { entriesMax: 4_000, textLengthMax: NAME_LENGTH_MAX }

/** `further`: names of the installation, by word as well. */
export function secretRules(further: readonly string[] = []): SecretRules {
  const own = further.map((name) => wordsOf(name)).filter((words) => words.length > 0)
  const phrases = [...PHRASES.map((phrase) => phrase.split(' ')), ...own]
  const glued = new Set(own.map((words) => words.join('')))
  const judge = rememberByText((name) => verdictOf(wordsOf(name), phrases, glued), REMEMBERED)
  // Names of the installation may be written together or apart: only their first letter is sure.
  const firstLetters = own.map(([word]) => word![0]!)
  const suspicious = new RegExp([...STEMS, ...firstLetters].join('|'), 'i')
  return { judge: (name) => (suspicious.test(name) ? judge(name) : 'open') }
}

function verdictOf(words: readonly string[], phrases: readonly string[][], glued: ReadonlySet<string>): NameVerdict {
  const last = words[words.length - 1]
  if (last === undefined) return 'open'
  if (glued.has(words.join(''))) return 'secret'
  if (words.length > 1 && (ABOUT.has(last) || FENCES.has(words.join(' ')))) return 'open'
  if (words.some(isSecretWord) || phrases.some((phrase) => holds(words, phrase))) return 'secret'
  return PLURALS.has(last) ? 'text' : 'open'
}

function isSecretWord(word: string): boolean {
  return WORDS.has(word) || ENDINGS.some((ending) => word.endsWith(ending))
}

function holds(words: readonly string[], phrase: readonly string[]): boolean {
  for (let at = 0; at + phrase.length <= words.length; at++) {
    if (phrase.every((word, offset) => words[at + offset] === word)) return true
  }
  return false
}

/** `X-Api-Key`, `x_api_key` and `xApiKey` are the same words. A number at the end of a word only counts it. */
export function wordsOf(name: string): string[] {
  return name
    .slice(-NAME_LENGTH_MAX)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/(?<![0-9])[0-9]+$/, ''))
    .filter((word) => word !== '')
}
