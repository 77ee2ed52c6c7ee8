// Promise: the colours of statuses can be read on every background, and told apart by everybody, whatever colours they see.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const STATUSES = ['running', 'completed', 'failed', 'cancelled', 'waiting', 'stuck']
const CSS = readFileSync(new URL('../../console/src/styles/tokens.css', import.meta.url), 'utf8')

type Color = readonly [number, number, number]

const tokens = new Map(
  [...CSS.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, light, dark]) => [
    name!,
    { light: colorOf(light!), dark: colorOf(dark!) },
  ]),
)

/** Linear light, 0 to 1. */
function colorOf(hex: string): Color {
  const part = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [part(1), part(3), part(5)]
}

function contrast(one: Color, other: Color): number {
  const light = ([red, green, blue]: Color): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue
  const [low, high] = [light(one), light(other)].toSorted((left, right) => left - right) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

/** Machado, Oliveira and Fernandes 2009: a kind of cone that is missing. */
const VISIONS: Readonly<Record<string, readonly Color[]>> = {
  'all cones': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

function seenBy(vision: string, color: Color): Color {
  return VISIONS[vision]!.map((row) =>
    Math.min(1, Math.max(0, row[0] * color[0] + row[1] * color[1] + row[2] * color[2])),
  ) as unknown as Color
}

/** CIE 1976: the distance in L*a*b*. */
function distance(one: Color, other: Color): number {
  const lab = ([red, green, blue]: Color): Color => {
    const curve = (value: number): number => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116)
    const x = curve((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
    const y = curve(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    const z = curve((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
  }
  const [left, right] = [lab(one), lab(other)]
  return Math.hypot(left[0] - right[0], left[1] - right[1], left[2] - right[2])
}

const of = (name: string, look: 'light' | 'dark'): Color => tokens.get(name)![look]

describe.each(['light', 'dark'] as const)('%s', (look) => {
  it.each(['bg', 'surface', 'raised'])('texts are read on %s', (ground) => {
    const weak = [...STATUSES, 'ink', 'muted', 'accent'].filter(
      (name) => contrast(of(name, look), of(ground, look)) < 4.5,
    )
    expect(weak).toEqual([])
  })

  it.each(Object.keys(VISIONS))('statuses are told apart with %s', (vision) => {
    const near = STATUSES.flatMap((one, index) =>
      STATUSES.slice(index + 1)
        .map((other) => ({
          pair: `${one} ${other}`,
          apart: distance(seenBy(vision, of(one, look)), seenBy(vision, of(other, look))),
        }))
        .filter(({ apart }) => apart < (look === 'light' ? 14 : 22)),
    )
    expect(near).toEqual([])
  })
})
