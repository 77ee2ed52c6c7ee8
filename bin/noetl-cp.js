#!/usr/bin/env -S node --min-semi-space-size=16 --max-semi-space-size=32
// Hands the process to main() and ends it with the exit code. Everything else lives in src/.
import { main } from '../dist/bundle/main.js'

const code = await main(process.argv.slice(2), process.env, process)
// Everything is written by now. Whatever is still open, such as a socket to a server that is silent, must not keep
// the process from ending.
process.exit(code)
