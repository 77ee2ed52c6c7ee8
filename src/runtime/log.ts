// Logs: pino, pretty on a terminal, JSON otherwise. Ids are fields; payloads are never logged, and every line is looked
// through for secrets before it leaves: fields, messages, errors and their stacks alike.
import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import { redactJson } from '../domain/secrets/redact.js'
import { secretRules } from '../domain/secrets/secretNames.js'
import { printable, printableJson } from './printable.js'

export type Log = Logger

export interface LogOptions {
  level: string
  format: 'auto' | 'json' | 'pretty'
  isTerminal: boolean
  color: boolean
  /** Where the lines go; standard error for the daemon, so that standard output stays data. */
  stream: NodeJS.WritableStream
}

/** A whole address as a field is more than anybody needs in a log. */
const RULES = secretRules(['databaseUrl', 'natsUrl'])

export function createLog(options: LogOptions): Log {
  const isPretty = options.format === 'pretty' || (options.format === 'auto' && options.isTerminal)
  const destination = isPretty
    ? pretty({
        destination: options.stream as NodeJS.WritableStream & { fd?: number },
        colorize: options.color,
        translateTime: 'SYS:HH:MM:ss.l',
        // One line per message: the first start tells a dozen things before the banner.
        singleLine: true,
        ignore: 'pid,hostname,component',
        messageFormat: (line, key) =>
          printable(`${line['component'] ? `[${line['component']}] ` : ''}${line[key] ?? ''}`),
      })
    : (options.stream as unknown as DestinationStream)
  return pino(
    {
      level: options.level,
      base: null,
      hooks: { streamWrite: (line) => forReaders(withoutSecrets(line), isPretty) },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}

/** A line is one JSON document and its line break. */
function withoutSecrets(line: string): string {
  const clean = redactJson(line, RULES)
  return clean === line ? line : `${clean}\n`
}

/** pino-pretty shows texts as they are; in JSON only what JSON leaves alone needs a mark. */
function forReaders(line: string, isPretty: boolean): string {
  const document = printableJson(line)
  return isPretty ? document.replace(ESCAPED_CONTROL, (found) => (found === '\\\\' ? found : '\ufffd')) : document
}

// An escaped backslash is matched first, so that what stands behind it is not taken for an escape. Line breaks stay: they
// are the lines of stacks.
const ESCAPED_CONTROL = /\\\\|\\u00(?:[01][0-9a-f]|7f|[89][0-9a-f])|\\[bfr]/gi

export function componentLog(log: Log, component: string): Log {
  return log.child({ component })
}

/** A log that writes nothing; for one-shot commands that report by their output. */
export const silentLog: Log = pino({ level: 'silent' })
