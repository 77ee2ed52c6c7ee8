// Reads option values of a subcommand. A bad value is a usage error that names the option.
import { CpError } from '../errors.js'
import type { Input } from './command.js'

export function textOption(input: Input, name: string): string | undefined {
  const value = input.options[camelCase(name)]
  return typeof value === 'string' ? value : undefined
}

export function listOption(input: Input, name: string): readonly string[] {
  const value = input.options[camelCase(name)]
  return Array.isArray(value) ? value : []
}

export function isSet(input: Input, name: string): boolean {
  return input.options[camelCase(name)] === true
}

export function integerOption(input: Input, name: string, bounds: { min: number; max: number }): number | undefined {
  const text = textOption(input, name)
  if (text === undefined) return undefined
  const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= bounds.min && value <= bounds.max)) {
    throw new CpError(
      'invalid_input',
      `--${name} must be a whole number from ${bounds.min} to ${bounds.max}, not ${JSON.stringify(text)}`,
    )
  }
  return value
}

/** What cannot be taken back is not done by accident. */
export function requireYes(input: Input, what: string): void {
  if (isSet(input, 'yes')) return
  throw new CpError('invalid_input', `${what}; add --yes to do it`)
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
