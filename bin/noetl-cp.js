#!/usr/bin/env node
// Hands the process to main() and sets the exit code. Everything else lives in src/.
import { main } from '../dist/cli/main.js'

process.exitCode = await main(process.argv.slice(2), process.env, process)
