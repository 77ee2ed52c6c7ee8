#!/usr/bin/env -S node --min-semi-space-size=16 --max-semi-space-size=32
// Hands the process to main() and sets the exit code. Everything else lives in src/.
import { main } from '../dist/cli/main.js'

const code = await main(process.argv.slice(2), process.env, process)
process.exitCode = code
// A forced stop leaves open handles behind on purpose.
if (code === 130 || code === 143) process.exit(code)
