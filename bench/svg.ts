/** Drawings: SVG with a background of its own, light or dark by the reader's preference. */

const STYLE = `
  .ground { fill: #ffffff; stroke: #d0d7de }
  text { fill: #24292f; font: 12px system-ui, sans-serif; paint-order: stroke; stroke: #ffffff; stroke-width: 4 }
  .title { font-size: 14px; font-weight: 600 }
  .quiet { fill: #57606a }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .median { stroke: #0969da; fill: #0969da }
  .tail { stroke: #bc4c00; fill: #bc4c00 }
  .plain { fill: #8c959f }
  .bar { stroke: none }
  polyline.line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #30363d }
    text { fill: #e6edf3; stroke: #0d1117 }
    .quiet { fill: #9198a1 }
    .grid { stroke: #30363d }
    .median { stroke: #4493f8; fill: #4493f8 }
    .tail { stroke: #f0883e; fill: #f0883e }
    .plain { fill: #6e7681 }
    .bar { stroke: none }
  }`

/** The width of every drawing. */
const WIDTH = 760
/** The shares of the largest value that have a line of the grid. */
const SHARES = [0, 0.5, 1]

/** The height of a bar with its margins. */
export const BAR = 26

export type Kind = 'median' | 'tail' | 'plain'

/** The area of the values, without the labels around it. */
export interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export function svg(height: number, label: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(label)}">
<style>${STYLE}
</style>
<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
${parts.join('\n')}
</svg>
`
}

export function text(x: number, y: number, kind: string, words: string, anchor = 'start'): string {
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escaped(words)}</text>`
}

export function rectangle(kind: Kind, x: number, y: number, width: number, height: number): string {
  return `<rect class="bar ${kind}" x="${x}" y="${y}" width="${round(width)}" height="${height}" rx="2"/>`
}

/** Horizontal bars from the top of the box downwards, with their labels to its left. */
export function bars(
  { left, right, top }: Omit<Box, 'bottom'>,
  rows: readonly { readonly label: string; readonly value: number; readonly kind: Kind }[],
): string[] {
  const most = ceiling(Math.max(...rows.map(({ value }) => value)))
  const bottom = top + rows.length * BAR
  const xOf = (value: number) => round(left + (value / most) * (right - left))
  const grid = SHARES.map((share) => {
    const x = xOf(share * most)
    return line(x, x, top, bottom) + text(x, bottom + 18, 'quiet', amount(share * most), 'middle')
  })
  const all = rows.flatMap(({ label, value, kind }, at) => {
    const [end, y] = [xOf(value), top + at * BAR]
    return [
      text(left - 10, y + 17, kind === 'median' ? 'title' : '', label, 'end'),
      rectangle(kind, left, y + 5, end - left, BAR - 10),
      text(end + 8, y + 17, '', value.toFixed(1)),
    ]
  })
  return [...grid, ...all]
}

export interface Series {
  readonly kind: Kind
  readonly name: string
  /** One value for each tick. */
  readonly values: readonly number[]
}

/**
 * Lines over common ticks. The numbers of the first series are above its line, those of the others below.
 *
 * @param ticks `at` is a share of the width
 * @param digits of the numbers, after the point
 */
export function lines(
  { left, right, top, bottom }: Box,
  ticks: readonly { readonly at: number; readonly label: string }[],
  all: readonly Series[],
  digits = 0,
): string[] {
  const most = ceiling(Math.max(...all.flatMap(({ values }) => values)))
  const xOf = (share: number) => round(left + share * (right - left))
  const yOf = (value: number) => round(bottom - (value / most) * (bottom - top))
  const grid = SHARES.map((share) => {
    const y = yOf(share * most)
    return line(left, right, y, y) + text(left - 8, y + 4, 'quiet', amount(share * most), 'end')
  })
  const series = all.flatMap(({ kind, name, values }, at) => {
    const points = values.map((value, tick) => [xOf(ticks[tick]?.at ?? 0), yOf(value)] as const)
    const numbers = points.map(([x, y], tick) =>
      text(x, y + (at === 0 ? -9 : 19), '', values[tick]?.toFixed(digits) ?? '', 'middle'),
    )
    const [x, y] = points.at(-1) ?? [0, 0]
    return [
      `<polyline class="line ${kind}" points="${points.join(' ')}"/>`,
      ...points.map(([cx, cy]) => `<circle class="${kind}" cx="${cx}" cy="${cy}" r="3.5"/>`),
      ...numbers,
      text(x + 10, y + 4, '', name),
    ]
  })
  // Numbers below a line may reach below the box.
  const depth = all.length === 1 ? 20 : 36
  return [
    ...grid,
    ...ticks.map(({ at, label }) => text(xOf(at), bottom + depth, 'quiet', label, 'middle')),
    ...series,
  ]
}

function line(x1: number, x2: number, y1: number, y2: number): string {
  return `<line class="grid" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}"/>`
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** A round number, slightly above the value, whose half is short too. */
function ceiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((each) => each * power >= value) ?? 10) * power
}

function amount(value: number): string {
  return value.toLocaleString('en')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
