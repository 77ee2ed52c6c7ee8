// The pinned ids and shards, read once. All 64-bit values in the file are decimal strings.

import { readFileSync } from 'node:fs'

export interface IdVectors {
  constants: Record<string, string | number>
  machine_id: { hostname: string; fnv1a64: string; machine_id: number }[]
  snowflake_compose: { unix_ms: string; machine_id: number; sequence: number; id: string }[]
  snowflake_decompose: { id: string; unix_ms: string; machine_id: number; sequence: number }[]
  generator_traces: {
    name: string
    machine_id: number
    clock_readings?: string[]
    ids?: string[]
    id_0?: string
    id_4095?: string
    id_4096?: string
    id_4097?: string
  }[]
  shard_for: { execution_id: string; xxh64: string; shards: Record<string, number> }[]
  shard_distribution: Record<string, number[]>
  command_subject: {
    pool: string
    execution_id: string
    shard_route: boolean
    command_shard_count: number
    subject: string
  }[]
  hostname_ordinal: { hostname: string; ordinal: number | null }[]
  statefulset_machine_id_collisions: { prefix: string; pods: number; distinct: number }[]
}

export const idVectors: IdVectors = JSON.parse(
  readFileSync(new URL('../fixtures/ids-and-shards.json', import.meta.url), 'utf8'),
)
