// The `spec.spool` of a subscription: where messages wait while executions cannot be started. Only checked
// and handed on; nothing here knows how a spool works.

import type { Reader } from '../catalog/violation.js'

const MODES = ['off', 'buffer_and_ack', 'hybrid'] as const
const BACKENDS = ['nats_object', 'local_disk', 'gcs', 's3'] as const
const ORDERINGS = ['global', 'per_key', 'none'] as const

export interface SubscriptionSpool {
  mode: (typeof MODES)[number]
  backend: (typeof BACKENDS)[number]
  ordering?: (typeof ORDERINGS)[number]
  bucket?: string
  path?: string
  onRecovery?: string
}

export function readSpool(spec: Reader): SubscriptionSpool | undefined {
  const spool = spec.mapping('spool')
  if (spool === undefined) return undefined
  const mode = spool.oneOf('mode', MODES, 'required')
  const backend = spool.oneOf('backend', BACKENDS) ?? 'nats_object'
  const ordering = spool.oneOf('ordering', ORDERINGS)
  const bucket = spool.text('bucket')
  const path = spool.text('path')
  if (mode !== 'off' && mode !== undefined) {
    if ((backend === 'gcs' || backend === 's3') && !spool.has('bucket')) {
      spool.wrong('bucket', `is missing; the backend ${backend} needs it`)
    }
    if (backend === 'local_disk' && !spool.has('path'))
      spool.wrong('path', 'is missing; the backend local_disk needs it')
  }
  const drain = spool.mapping('drain')
  const onRecovery = drain?.text('on_recovery')
  if (ordering === 'global' && onRecovery === 'interleave') {
    drain?.wrong('on_recovery', 'must not be interleave while ordering is global: the order would be lost')
  }
  if (mode === undefined) return undefined
  return {
    mode,
    backend,
    ...(ordering === undefined ? {} : { ordering }),
    ...(bucket === undefined ? {} : { bucket }),
    ...(path === undefined ? {} : { path }),
    ...(onRecovery === undefined ? {} : { onRecovery }),
  }
}
