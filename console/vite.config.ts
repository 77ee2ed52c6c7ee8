// Builds the console into dist/console. Every file but the page has a hash of its contents in its name. Addresses are relative;
// the daemon writes into the page where browsers see it.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

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
    // Few files are smaller together than many, and none of them needs another that the page does not have yet.
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 300,
  },
}))
