// One Chromium and the server that passes its words on: tells its address to the process that started it, and ends when told to
// or when that process is gone. Its one argument is the program.
import { chromium } from 'playwright-core'

const server = await chromium.launchServer({
  executablePath: process.argv[2],
  headless: true,
  args: [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // There is no other place for it, even on a machine that has a network: whatever a page needs comes from the daemon.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  ],
})
const close = async () => {
  await server.close()
  process.exit(0)
}
process.once('message', close)
process.once('disconnect', close)
process.send(server.wsEndpoint())
