// Where the embedded instance lives when nobody says otherwise: the same place from any folder, so that
// a cron job finds it too. Pure; the caller brings the user and the environment.

import { isAbsolute, join } from 'node:path'
import { CpError } from '../errors.js'

export const SYSTEM_DATA_DIR = '/var/lib/noetl-cp'

export interface UserPlaces {
  uid: number
  home: string | undefined
  xdgDataHome: string | undefined
}

export function defaultDataDir(places: UserPlaces): string {
  if (places.uid === 0) return SYSTEM_DATA_DIR
  // A relative XDG_DATA_HOME must be ignored, says its specification.
  if (places.xdgDataHome !== undefined && isAbsolute(places.xdgDataHome)) return join(places.xdgDataHome, 'noetl-cp')
  if (places.home !== undefined && isAbsolute(places.home)) return join(places.home, '.local', 'share', 'noetl-cp')
  throw new CpError(
    'config',
    'there is no home folder to keep the data in; name a folder with --data-dir or NOETL_CP_DATA_DIR',
  )
}
