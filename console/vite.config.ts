// Builds the console into dist/console. Every file but the page has a hash of its contents in its name. Addresses are relative;
// the daemon writes into the page where browsers see it.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

// What the page of one execution shares with others stays in one file with it: many small files are larger together.
const EXECUTION = /pages\/(execution|graph)\/|domain\/(tape|memo)|parts\/Differences|lib\/(useRested|difference)/

export default defineConfig(({ command }) => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: command === 'serve' ? '/console/' : './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: { proxy: { '^/(api|readyz|metrics)': 'http://127.0.0.1:8082' } },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 300,
    rolldownOptions: {
      output: {
        codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: 'execution', test: EXECUTION }] },
      },
    },
  },
}))
