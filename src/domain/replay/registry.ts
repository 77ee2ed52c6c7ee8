// The upcasters of this product. Event schemas have not changed yet, so there are none; a lift is registered
// here, and with the first one the digest changes and old seeds are no longer continued.

import { UpcasterRegistry } from './upcasters.js'

export const UPCASTERS = new UpcasterRegistry()

export const REGISTRY_DIGEST = UPCASTERS.digest()
