// Keeps the newest benchmark run: copies it to docs/bench/results.json and draws it as docs/bench/ratios.svg. The README
// shows the same figures, and a test compares all three.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const LATEST = new URL('../bench/results/latest.json', import.meta.url)
export const KEPT = new URL('../docs/bench/results.json', import.meta.url)
export const CHART = new URL('../docs/bench/ratios.svg', import.meta.url)

const bounded = ({ results }) => results.filter((row) => row.ratio !== undefined && row.target !== undefined)

export function isMet({ ratio, target }) {
  const { sign, bound } = parseTarget(target)
  return sign === '>=' ? ratio >= bound : ratio <= bound
}

function parseTarget(target) {
  const [, sign, bound] = /^(>=|<=) ([\d.]+)$/.exec(target)
  return { sign, bound: Number(bound) }
}

/** The rows that have a target, for the README. */
export function benchTable(document) {
  const rows = bounded(document).map((row) => {
    const value = row.value === undefined ? '' : `${formatValue(row.value)} ${row.unit ?? ''}`.trim()
    const target = row.target.replace('>=', '≥').replace('<=', '≤')
    return `| ${row.benchmark} | ${row.name} | ${value} | ${row.ratio.toFixed(2)} | ${target} | ${isMet(row) ? 'yes' : '**no**'} |`
  })
  const { at, cores, cpu, node, full } = document
  return [
    `Measured on ${at.slice(0, 10)}: ${cores} cores (${cpu}), Node ${node.replace(/^v/, '')}, Postgres, nats-server, daemon and load on the`,
    `same machine, \`make ${full ? 'bench-full' : 'bench'}\`. Every ratio is taken within one run.`,
    '',
    '| Part | What | Seen | Ratio | Asked | Met |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

const ROW = 26
const LEFT = 460
const WIDTH = 1030
const BAR = 400
const SCALE_MAX = 2

/** One bar per target: how far the figure lies on the good side of it; the line is the target itself. */
export function drawChart(document) {
  const rows = bounded(document)
  const height = rows.length * ROW + 80
  const unit = BAR / SCALE_MAX
  const bars = rows.map((row, index) => {
    const { sign, bound } = parseTarget(row.target)
    const share = sign === '>=' ? row.ratio / bound : bound / row.ratio
    const y = 50 + index * ROW
    const length = Math.max(2, Math.min(share, SCALE_MAX) * unit)
    const colour = isMet(row) ? '#2f855a' : '#c53030'
    const asked = `${row.ratio.toFixed(2)}  (${sign === '>=' ? '≥' : '≤'} ${bound})`
    return [
      `<text x="${LEFT - 10}" y="${y + 13}" text-anchor="end">${escapeXml(`${row.benchmark}: ${row.name}`.slice(0, 74))}</text>`,
      `<rect x="${LEFT}" y="${y}" width="${length.toFixed(1)}" height="16" rx="2" fill="${colour}"/>`,
      `<text x="${LEFT + BAR + 12}" y="${y + 13}">${escapeXml(asked)}${share > SCALE_MAX ? ' ▸' : ''}</text>`,
    ].join('\n')
  })
  const line = LEFT + unit
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#1a202c">
<title>Benchmark ratios against their targets, ${document.at.slice(0, 10)}</title>
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="${LEFT}" y="20" font-size="14" font-weight="600">How far each figure lies beyond its target</text>
<text x="${line}" y="40" text-anchor="middle" fill="#4a5568">target</text>
${bars.join('\n')}
<line x1="${line}" y1="44" x2="${line}" y2="${height - 26}" stroke="#1a202c" stroke-dasharray="4 3"/>
<text x="${LEFT}" y="${height - 10}" fill="#4a5568">${escapeXml(`${document.at.slice(0, 10)}, ${document.cores} cores, ${document.cpu}; ▸ more than twice as good`)}</text>
</svg>
`
}

export function formatValue(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(new URL('.', KEPT), { recursive: true })
  copyFileSync(LATEST, KEPT)
  writeFileSync(CHART, drawChart(JSON.parse(readFileSync(KEPT, 'utf8'))))
  process.stdout.write('docs/bench holds the newest run\n')
}
