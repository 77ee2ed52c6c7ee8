// Closes every run with one plain line, "N passed, N failed", for people and CI systems that read only the end.
import type { Reporter, TestModule } from 'vitest/node'
import { findChromium, INSTALL_CHROMIUM } from './chromium.js'

export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    let passed = 0
    // An error that no test caught fails the run, too.
    let failed = errors.length
    let skipped = 0
    const withoutBrowser: string[] = []
    for (const module of modules) {
      const before = failed
      for (const test of module.children.allTests()) {
        const state = test.result().state
        if (state === 'passed') passed += 1
        else if (state === 'failed') failed += 1
        else skipped += 1
      }
      // A file can fail outside its tests: at import, before or after them.
      if (module.state() === 'failed' && failed === before) failed += 1
      if (module.project.name === 'web' && findChromium() === undefined) withoutBrowser.push(module.relativeModuleId)
    }
    if (withoutBrowser.length > 0) {
      const list = withoutBrowser.join(', ')
      process.stdout.write(`\nSkipped for want of a browser: ${list}. To run them: ${INSTALL_CHROMIUM}\n`)
    }
    process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  }
}
