// Where this package lies: the sources, what tsc made of them and the bundle are at different depths below it.
import { existsSync } from 'node:fs'

function findPackageFolder(): URL {
  let folder = new URL('./', import.meta.url)
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/') folder = new URL('../', folder)
  return folder
}

/** As an address that ends in a slash. */
export const PACKAGE_FOLDER = findPackageFolder()
