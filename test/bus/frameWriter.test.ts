// Promise: what is written is exactly the messages, whole and in order, whatever their size; what the server would
// not take is refused before anything is written.
import type { NatsConnection } from 'nats'
import { describe, expect, it } from 'vitest'
import { createFrameWriter } from '../../src/bus/frameWriter.js'

function connection(overrides: object = {}) {
  const sent: Buffer[] = []
  const fake = {
    protocol: { sendCommand: (chunk: Uint8Array) => sent.push(Buffer.from(chunk)) },
    isClosed: () => false,
    isDraining: () => false,
    info: { max_payload: 300_000 },
    ...overrides,
  }
  return { sent, connection: fake as unknown as NatsConnection }
}

const frame = (subject: string, reply: string, headers: string, body: string): string => {
  const headerBytes = Buffer.byteLength(`NATS/1.0\r\n${headers}\r\n`)
  return `HPUB ${subject} ${reply} ${headerBytes} ${headerBytes + Buffer.byteLength(body)}\r\nNATS/1.0\r\n${headers}\r\n${body}\r\n`
}

describe('the frame writer', () => {
  it('writes nothing before it is flushed, and each message once', () => {
    const { sent, connection: to } = connection()
    const writer = createFrameWriter(to)
    writer.write('a.b', '_INBOX.1', 'Nats-Msg-Id: 1:2\r\n', '{"ü": "日本"}')
    writer.write('a.c', '_INBOX.2', '', '')
    expect(sent).toEqual([])
    writer.flush()
    writer.flush()
    expect(Buffer.concat(sent).toString()).toBe(
      frame('a.b', '_INBOX.1', 'Nats-Msg-Id: 1:2\r\n', '{"ü": "日本"}') + frame('a.c', '_INBOX.2', '', ''),
    )
  })

  it('keeps messages whole and in order over many chunks, also ones larger than a chunk', () => {
    const { sent, connection: to } = connection()
    const writer = createFrameWriter(to)
    let expected = ''
    for (let index = 0; index < 600; index++) {
      const body = 'é'.repeat(index % 97 === 0 ? 70_000 : (index * 37) % 900)
      expect(writer.write(`s.${index}`, `r.${index}`, 'A: b\r\n', body)).toBe(true)
      expected += frame(`s.${index}`, `r.${index}`, 'A: b\r\n', body)
      if (index % 50 === 0) writer.flush()
    }
    writer.flush()
    expect(Buffer.concat(sent).toString() === expected).toBe(true)
    for (const chunk of sent) expect(chunk.subarray(0, 5).toString()).toBe('HPUB ')
  })

  it('refuses what is larger than the server takes, and goes on', () => {
    const { sent, connection: to } = connection({ info: { max_payload: 100 } })
    const writer = createFrameWriter(to)
    expect(writer.write('s', 'r', '', 'x'.repeat(89))).toBe(false)
    expect(writer.write('s', 'r', '', 'x'.repeat(88))).toBe(true)
    writer.flush()
    expect(Buffer.concat(sent).toString()).toBe(frame('s', 'r', '', 'x'.repeat(88)))
  })

  it('says so when the connection is closed or the client is not the one it knows', () => {
    const closed = connection({ isClosed: () => true }).connection
    expect(() => createFrameWriter(closed).write('s', 'r', '', '')).toThrow('the connection to NATS is closed')
    expect(() => createFrameWriter(connection({ protocol: {} }).connection)).toThrow('install the one in package.json')
  })
})
