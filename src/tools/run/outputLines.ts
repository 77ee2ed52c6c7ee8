// Output as whole lines, without the secrets that the command has used.
import type { SecretMask } from '../../domain/tool/secretMask.js'
import type { OutputStream } from '../tool.js'

const LINE_CHARACTERS_MAX = 8_192

/** Puts chunks together to lines: a secret may be cut in two by the end of a chunk. */
export class OutputLines {
  private readonly rest = { stdout: '', stderr: '' }

  constructor(
    private readonly onLine: (stream: OutputStream, line: string) => void,
    private readonly mask: SecretMask,
  ) {}

  add(stream: OutputStream, chunk: Buffer): void {
    const lines = (this.rest[stream] + chunk.toString('utf8')).split('\n')
    const last = lines.pop() as string
    if (last.length > LINE_CHARACTERS_MAX) lines.push(last)
    this.rest[stream] = last.length > LINE_CHARACTERS_MAX ? '' : last
    for (const line of lines) this.onLine(stream, this.mask.text(line))
  }

  /** What came without a line break at its end. */
  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.rest[stream] !== '') this.onLine(stream, this.mask.text(this.rest[stream]))
      this.rest[stream] = ''
    }
  }
}
