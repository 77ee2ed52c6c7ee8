// What a fold is given and what it answers, whatever its rules.
import type { JsonObject, JsonValue } from '../json/value.js'
import type { Integer } from './coerce.js'
import type { PayloadReference } from './payloadReferences.js'
import type { FoldProfile, ProjectionChecksums } from './profile.js'
import type { FoldWarning, UnknownType } from './warnings.js'

export interface SnapshotSeed {
  aggregate_id: JsonValue
  aggregate_type: JsonValue
  version: JsonValue
  checksum: JsonValue
  meta: JsonValue
}

export interface FoldOptions {
  profile: FoldProfile
  tenantId: string
  organizationId: string
  executionId: Integer
  projection: string
  upcasterRegistryDigest: string | null
  /** A state document to continue from; null or `{}` means from nothing. */
  baseState?: JsonObject | null
  /** Where the base came from; becomes `replay_snapshot` inside the hashed state. */
  snapshotSeed?: SnapshotSeed | null
  /** Keep the hashed text, for whoever writes the document out; it costs its size. */
  keepText?: boolean
}

export interface FoldResult {
  /** The complete document, checksums included. */
  readonly state: JsonObject
  checksum: string
  projectionChecksums: ProjectionChecksums
  eventCount: Integer
  lastEventId: Integer | null
  /** Events left out because their id was folded already (`cp` only). */
  duplicates: number
  warnings: FoldWarning[]
  unknownTypes: { count: number; types: UnknownType[] }
  payloadReferences(): PayloadReference[]
  /** The text whose SHA-256 is `checksum`; tens of megabytes for a long log. */
  canonicalText(): string
  /** The same text as bytes in pieces; only with keepText. */
  canonicalBytes: readonly Buffer[] | null
}

export interface Fold {
  add(event: JsonObject): void
  finish(): FoldResult
}
