// Fails when what npm has just installed is not what the lock file says: other versions or contents, packages that it
// does not name, or some that are missing. `npm install` resolves anew whatever it cannot take from the lock file.
//   node scripts/installed-as-locked.mjs [--production]
import { readFileSync } from 'node:fs'

const locked = read('package-lock.json')
const installed = read('node_modules/.package-lock.json')
const isWanted = process.argv.includes('--production') ? ({ dev, devOptional }) => !dev && !devOptional : () => true
const problems = []

for (const [path, found] of Object.entries(installed)) {
  const wanted = locked[path]
  if (wanted === undefined) {
    if (!isBinaryOf(path, found)) problems.push(`${path} ${found.version} is not in the lock file`)
  } else if (wanted.version !== found.version) {
    problems.push(`${path} is ${found.version}, the lock file says ${wanted.version}`)
  } else if (wanted.integrity !== found.integrity) {
    problems.push(`${path} ${found.version} has other contents than the lock file says`)
  }
}
for (const [path, wanted] of Object.entries(locked)) {
  const isNeeded = path !== '' && !wanted.optional && !wanted.devOptional && isWanted(wanted)
  if (isNeeded && installed[path] === undefined) problems.push(`${path} ${wanted.version} is missing`)
}
const {
  dependencies = {},
  devDependencies = {},
  optionalDependencies = {},
} = JSON.parse(readFileSync('package.json', 'utf8'))
for (const [kind, named] of Object.entries({ dependencies, devDependencies, optionalDependencies })) {
  if (!isSame(named, locked[''][kind] ?? {})) problems.push(`${kind} of package.json are not those of the lock file`)
}

if (problems.length > 0) {
  const list = problems.map((line) => `  - ${line}`).join('\n')
  process.stderr.write(`The packages are not those of package-lock.json:\n${list}\n`)
  process.stderr.write('Bring the lock file up to date (npm install) and look at what changed, or install again.\n')
  process.exit(1)
}

/** A program for a platform that the lock file does not know: optional, in the one version that a locked package names. */
function isBinaryOf(path, { optional, version }) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return optional === true && Object.values(locked).some((parent) => parent.optionalDependencies?.[name] === version)
}

function isSame(left, right) {
  const text = (value) => JSON.stringify(Object.entries(value).sort())
  return text(left) === text(right)
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages
}
