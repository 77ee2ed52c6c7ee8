// One starter in the race for a lock: waits for a line on stdin, tries once, reports, and keeps what it won
// until it is killed. Arguments: the folder that holds dist, the lock file.
const [checkout, path] = process.argv.slice(2)
const { acquireLock } = await import(`file://${checkout}/dist/embedded/lock.js`)
process.stdout.write('ready\n')
process.stdin.once('data', async () => {
  try {
    await acquireLock(path, 'the folder')
    process.stdout.write('won\n')
  } catch (error) {
    process.stdout.write(`${error.code}\n`)
  }
})
setInterval(() => undefined, 60_000)
