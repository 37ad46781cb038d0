/** The drawing of the curves: one small chart each, with sizes on a logarithmic axis. */

import { ceiling, round, svg, text } from '../svg.ts'
import type { Curve, Curves } from './measure.ts'

const WIDTH = 760
const COLUMNS = 2
/** Size of a chart with its margins. */
const CHART = { width: 370, height: 190 }
/** Between the axis and the first point: room for its number. */
const INSET = 24
const PLOT = { left: 64, right: 340, top: 56, bottom: 140 }

export function curveDrawing({ curves }: Curves, machine: string): string {
  const height = Math.ceil(curves.length / COLUMNS) * CHART.height + 60
  return svg(WIDTH, height, 'What a decision costs, against the size of everything', [
    text(24, 34, 'title', 'A decision in process, in nanoseconds, against the size of everything'),
    ...curves.map((each, i) =>
      chart(each, (i % COLUMNS) * CHART.width, 30 + Math.floor(i / COLUMNS) * CHART.height),
    ),
    text(24, height - 14, 'quiet', `${machine}; token and Seat known to memory`),
  ])
}

function chart({ label, points }: Curve, left: number, top: number): string {
  const most = ceiling(Math.max(...points.map(({ nanoseconds }) => nanoseconds)))
  const [low, high] = [points[0]?.size ?? 1, points.at(-1)?.size ?? 10].map(Math.log10) as [number, number]
  const x = (size: number) =>
    round(
      left +
        PLOT.left +
        INSET +
        ((Math.log10(size) - low) / (high - low)) * (PLOT.right - PLOT.left - 2 * INSET),
    )
  const y = (value: number) => round(top + PLOT.bottom - (value / most) * (PLOT.bottom - PLOT.top))
  const placed = points.map(({ size, nanoseconds }) => [x(size), y(nanoseconds)] as const)
  return [
    text(left + 24, top + 34, '', label),
    ...grid(left, most, y),
    `<polyline class="line median" points="${placed.join(' ')}"/>`,
    ...placed.map(([cx, cy]) => `<circle class="median" cx="${cx}" cy="${cy}" r="3.5"/>`),
    ...points.map(({ nanoseconds }, i) => {
      const [cx = 0, cy = 0] = placed[i] ?? []
      return text(cx, cy - 9, '', nanoseconds.toFixed(0), 'middle')
    }),
    ...points.map(({ size }) =>
      text(x(size), top + PLOT.bottom + 20, 'quiet', size.toLocaleString('en'), 'middle'),
    ),
  ].join('\n')
}

function grid(left: number, most: number, y: (value: number) => number): string[] {
  return [0, most / 2, most].map((value) => {
    const line = `<line class="grid" x1="${left + PLOT.left}" x2="${left + PLOT.right}" y1="${y(value)}" y2="${y(value)}"/>`
    return `${line}${text(left + PLOT.left - 8, y(value) + 4, 'quiet', value.toLocaleString('en'), 'end')}`
  })
}
