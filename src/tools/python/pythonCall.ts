// One call on its way through the fork server (python/guardian.py tells the frames): the request out, the answer and the
// outputs back. It ends when its guardian says so, and then nothing of it is left running.
import { connect, type Socket } from 'node:net'
import { OutputCut } from '../../domain/tool/outputCut.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { TERM_GRACE_MS } from '../process/endingSignals.js'

export interface PythonCallOptions {
  readonly signal: AbortSignal
  readonly onOutput?: ((stream: 'stdout' | 'stderr', chunk: Buffer) => void) | undefined
}

export interface PythonAnswer {
  /** JSON text of what the code gave; undefined when it ended without. */
  readonly answer: string | undefined
  readonly exitCode: number
  /** The number of the signal that ended it; 0 for none. */
  readonly signalNumber: number
  readonly stdout: string
  readonly stderr: string
}

export const ANSWER_BYTES_MAX = 64 * 1024 * 1024
/** A guardian that was told to kill and does not answer. */
const KILL_GRACE_MS = 15_000
const FRAME_HEAD_BYTES = 5
const LENGTH_BYTES = 8

export class PythonCall {
  /** Before that, the call may be made again. */
  hasBegun = false
  private readonly stdout = new OutputCut()
  private readonly stderr = new OutputCut()
  private readonly answer: Buffer[] = []
  private answerBytes = 0
  private waitStatus: number | undefined
  private failure: ToolFailure | undefined
  private rest: Buffer = Buffer.alloc(0)
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly socketPath: string,
    private readonly options: PythonCallOptions,
  ) {}

  async perform(request: string): Promise<PythonAnswer> {
    const { signal } = this.options
    if (signal.aborted) throw signal.reason
    const socket = connect(this.socketPath)
    // An error is followed by the end of the socket, which is what is waited for.
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => this.takeFrames(chunk, socket))
    const body = Buffer.from(request)
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeBigUInt64BE(BigInt(body.length))
    socket.write(length)
    socket.write(body)
    const onAbort = (): void => this.end(socket)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await new Promise<void>((resolve) => socket.once('close', () => resolve()))
    } finally {
      signal.removeEventListener('abort', onAbort)
      clearTimeout(this.timer)
    }
    return this.read()
  }

  private takeFrames(chunk: Buffer, socket: Socket): void {
    let bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk])
    while (bytes.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + bytes.readUInt32BE(1)
      if (bytes.length < end) break
      this.takeFrame(String.fromCharCode(bytes[0] as number), bytes.subarray(FRAME_HEAD_BYTES, end), socket)
      bytes = bytes.subarray(end)
    }
    this.rest = bytes
  }

  private takeFrame(letter: string, payload: Buffer, socket: Socket): void {
    switch (letter) {
      case 'b':
        this.hasBegun = true
        return
      case 'a':
        this.takeAnswer(payload, socket)
        return
      case 'x':
        this.waitStatus = Number(payload.toString('latin1'))
        socket.destroy()
        return
      default: {
        const stream = letter === 'o' ? 'stdout' : 'stderr'
        this[stream].add(payload)
        this.options.onOutput?.(stream, payload)
      }
    }
  }

  private takeAnswer(piece: Buffer, socket: Socket): void {
    if (this.failure !== undefined) return
    this.answer.push(piece)
    this.answerBytes += piece.length
    if (this.answerBytes <= ANSWER_BYTES_MAX + LENGTH_BYTES) return
    this.failure = new ToolFailure('schema', `the result is larger than ${ANSWER_BYTES_MAX} bytes; store it elsewhere`)
    this.answer.length = 0
    socket.write('K')
  }

  private end(socket: Socket): void {
    socket.write('T')
    this.timer = setTimeout(() => {
      socket.write('K')
      this.timer = setTimeout(() => socket.destroy(), KILL_GRACE_MS)
    }, TERM_GRACE_MS)
  }

  private read(): PythonAnswer {
    const stdout = this.stdout.text()
    const stderr = this.stderr.text()
    if (this.failure !== undefined) throw this.failure.with({ stdout, stderr })
    if (this.waitStatus === undefined) {
      if (this.options.signal.aborted) throw this.options.signal.reason
      throw new ToolFailure('unknown', 'Python was killed in the middle of the call; look for what killed it', {
        code: 'PYTHON_LOST',
        stdout,
        stderr,
      })
    }
    const exitCode = this.waitStatus >> 8
    return { answer: this.answerText(), exitCode, signalNumber: this.waitStatus & 0x7f, stdout, stderr }
  }

  private answerText(): string | undefined {
    const bytes = Buffer.concat(this.answer)
    if (bytes.length < LENGTH_BYTES) return undefined
    const whole = LENGTH_BYTES + Number(bytes.readBigUInt64BE(0))
    return bytes.length < whole ? undefined : bytes.toString('utf8', LENGTH_BYTES, whole)
  }
}
