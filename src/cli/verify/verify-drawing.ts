/** The picture of a run: a row for each place, the writes as lines, the reads as dots. */

import type { Dot, RunRecord, RunReport } from './run-record.ts'
import { xml } from './verify-report.ts'

const WIDTH = 1200
const LEFT = 260
const RIGHT = 1180
const TOP = 90
const ROW = 48
/** Of the writes, as many are drawn. */
const MOST_LINES = 600
/** Radius of a dot. */
const RADIUS: Readonly<Record<Dot['kind'], number>> = { decided: 1.4, undecided: 1.8, violation: 4 }

const STYLE = `
  .ground { fill: #ffffff }
  text { fill: #24292f; font: 12px system-ui, sans-serif }
  .title { font-size: 15px; font-weight: 600 }
  .quiet { fill: #57606a }
  .write { stroke: #8250df; stroke-width: 1; opacity: 0.45 }
  .row { stroke: #d0d7de }
  .during { fill: #bf8700; opacity: 0.18 }
  .decided { fill: #0969da }
  .undecided { fill: #8c959f }
  .violation { fill: #cf222e }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 }
    text { fill: #e6edf3 }
    .quiet { fill: #9198a1 }
    .row { stroke: #30363d }
  }`

/** SVG 1.1, of bounded size: of many reads, some are left out, but no violation. */
export function drawing(record: RunRecord, report: RunReport): string {
  const { places, during, duration_ms: duration } = report
  const across = (at: number) => Math.round((LEFT + (at / Math.max(1, duration)) * (RIGHT - LEFT)) * 10) / 10
  const bottom = TOP + places.length * ROW
  const height = bottom + 40
  const stride = Math.ceil(record.lines.length / MOST_LINES)
  const title = `seatgate verify: ${report.violations_total} violations in ${report.reads} reads and ${report.writes} writes`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${xml(title)}">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="20" y="32">${xml(title)}</text>`,
    `<text class="quiet" x="20" y="54">from ${report.started_at}; lines: 2xx of writes; dots: reads (blue decided, grey undecided, red violation); band: --during</text>`,
    ...(during === null
      ? []
      : [
          `<rect class="during" x="${across(during.began_ms)}" y="${TOP - 14}" width="${Math.max(1, across(during.ended_ms ?? duration) - across(during.began_ms))}" height="${bottom - TOP + 14}"><title>${xml(during.command)}</title></rect>`,
        ]),
    ...record.lines
      .filter((_, at) => at % stride === 0)
      .map(
        ({ at, operation }) =>
          `<line class="write" x1="${across(at)}" x2="${across(at)}" y1="${TOP - 8}" y2="${bottom}"><title>${xml(operation)}, ${(at / 1000).toFixed(3)} s</title></line>`,
      ),
    ...places.flatMap(({ place }, at) => [
      `<line class="row" x1="${LEFT}" x2="${RIGHT}" y1="${TOP + at * ROW + ROW / 2}" y2="${TOP + at * ROW + ROW / 2}"/>`,
      `<text x="20" y="${TOP + at * ROW + ROW / 2 + 4}">${xml(shortened(place))}</text>`,
      ...dotsOf(record.dots.get(place) ?? [], TOP + at * ROW, across),
    ]),
    ...[0, 0.25, 0.5, 0.75, 1].map(
      (share) =>
        `<text class="quiet" x="${across(share * duration)}" y="${bottom + 20}" text-anchor="middle">${((share * duration) / 1000).toFixed(1)} s</text>`,
    ),
    '</svg>',
    '',
  ].join('\n')
}

/** Dots of one moment lie one above the other. */
function dotsOf(dots: readonly Dot[], top: number, across: (at: number) => number): string[] {
  return dots.map(({ at, kind }, number) => {
    const y = kind === 'violation' ? top + ROW / 2 : top + 8 + (number % 5) * ((ROW - 16) / 4)
    return `<circle class="${kind}" cx="${across(at)}" cy="${y}" r="${RADIUS[kind]}"/>`
  })
}

function shortened(place: string): string {
  return place.length > 36 ? `${place.slice(0, 35)}…` : place
}
