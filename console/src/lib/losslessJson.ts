// JSON without losing a digit: numbers stay the text they were.
import { LosslessNumber, parse, stringify } from 'lossless-json'
import { fetchOwn } from './api'

export type Json = null | boolean | string | LosslessNumber | Json[] | { [key: string]: Json }

export function isNumber(value: Json): value is LosslessNumber {
  return value instanceof LosslessNumber
}

export function isBranch(value: Json): value is Json[] | { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !isNumber(value)
}

export function parseJson(text: string): Json {
  return parse(text) as Json
}

export function jsonText(value: Json): string {
  return stringify(value, undefined, 2) ?? ''
}

/** In one line, as it is sent. */
export function jsonLine(value: Json): string {
  return stringify(value) ?? ''
}

export async function getJson(path: string, signal?: AbortSignal): Promise<Json> {
  return parseJson(await fetchOwn('GET', path, { signal }, textOf))
}

/** What is sent keeps every digit, too. */
export async function sendJson(path: string, body: Json): Promise<Json> {
  return parseJson(await fetchOwn('POST', path, { body: jsonLine(body) }, textOf))
}

function textOf(response: Response): Promise<string> {
  return response.text()
}
