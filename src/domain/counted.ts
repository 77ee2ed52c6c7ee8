// A number with the word for it, as people say it: `1 row`, `2 rows`.

export function counted(count: number | bigint | string, one: string, many = `${one}s`): string {
  return `${count} ${String(count) === '1' ? one : many}`
}
