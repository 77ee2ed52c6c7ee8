// A number with the word for it, as people say it: `1 row`, `1,204 rows`.
import { whole } from './time'

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${whole(value)} ${value === 1 ? one : many}`
}
