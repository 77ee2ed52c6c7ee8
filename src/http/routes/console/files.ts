// The built console as it lies in dist/console: every file read once and pressed once. Names of assets carry a hash of
// their contents, so browsers may keep them for ever; the page that names them may never be kept.
import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { CpError } from '../../../errors.js'
import { PACKAGE_FOLDER } from '../../../runtime/packageFolder.js'

export interface ConsoleFile {
  contentType: string
  plain: Buffer
  pressed: Buffer
}

export interface ConsoleFiles {
  /** The page for browsers that see our paths behind `prefix`. */
  page(prefix: string): Promise<ConsoleFile>
  /** Undefined if the build has no such asset. */
  asset(name: string): Promise<ConsoleFile | undefined>
}

const FOLDER = new URL('dist/console/', PACKAGE_FOLDER)
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
// What the build writes; nothing with a dot or a slash more leads out of its folder.
const ASSET_NAME = /^[\w-]+\.(?:js|css|svg)$/
const press = promisify(gzip)

export function createConsoleFiles(folder: URL = FOLDER): ConsoleFiles {
  const read = new Map<string, Promise<ConsoleFile | undefined>>()
  const pages: Record<string, Promise<ConsoleFile>> = {}

  const fileOf = (path: string): Promise<ConsoleFile | undefined> => {
    const known = read.get(path)
    if (known !== undefined) return known
    const file = readConsoleFile(new URL(path, folder))
    read.set(path, file)
    // What is missing is not remembered: the names that can be asked for have no end.
    void file.then(
      (found) => found === undefined && read.delete(path),
      () => read.delete(path),
    )
    return file
  }

  return {
    page: async (prefix) => {
      const page = await fileOf('index.html')
      if (page !== undefined) {
        pages[prefix] ??= pageBehind(page, prefix)
        return pages[prefix]
      }
      throw new CpError('not_found', `the console is not built: ${fileURLToPath(folder)} is missing; run make build`)
    },
    asset: async (name) => (ASSET_NAME.test(name) ? fileOf(`assets/${name}`) : undefined),
  }
}

/** The one place where it is written down how browsers see us; the build has relative addresses. */
async function pageBehind({ contentType, plain }: ConsoleFile, prefix: string): Promise<ConsoleFile> {
  const text = plain
    .toString('utf8')
    .replace('data-prefix=""', `data-prefix="${prefix}"`)
    .replaceAll('="./', `="${prefix}/console/`)
  return { contentType, plain: Buffer.from(text), pressed: await press(text, { level: 9 }) }
}

async function readConsoleFile(url: URL): Promise<ConsoleFile | undefined> {
  const isFile = await stat(url).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!isFile) return undefined
  const plain = await readFile(url)
  const contentType = TYPES[extname(url.pathname)] ?? 'application/octet-stream'
  return { contentType, plain, pressed: await press(plain, { level: 9 }) }
}
