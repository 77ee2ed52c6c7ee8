// The version of this package, read once from its package.json.
import { readFileSync } from 'node:fs'
import { PACKAGE_FOLDER } from './runtime/packageFolder.js'

const manifest = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')) as { version: string }

export const VERSION: string = manifest.version
