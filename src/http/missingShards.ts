// An answer in which a shard is missing names it in a header; whoever asks again may get the rest.

export function missingShards(shards: readonly (number | { shard: number })[]): Record<string, string> {
  const numbers = shards.map((one) => (typeof one === 'number' ? one : one.shard))
  return numbers.length === 0 ? {} : { 'x-noetl-failed-shards': numbers.join(',') }
}
