/** The drawing of the curves: one small chart each, with sizes on a logarithmic axis. */

import { lines, svg, text } from '../svg.ts'
import type { Curve, Curves } from './measure.ts'

const COLUMNS = 2
/** The size of a chart with its margins. */
const CHART = { width: 370, height: 190 }
/** The share of the width before the first point and after the last one: room for their numbers. */
const INSET = 0.09

export function curveDrawing({ curves }: Curves, machine: string): string {
  const height = Math.ceil(curves.length / COLUMNS) * CHART.height + 60
  return svg(height, 'What a decision costs, against the size of everything', [
    text(24, 34, 'title', 'A decision in process, in nanoseconds, against the size of everything'),
    ...curves.flatMap((each, at) =>
      chart(each, (at % COLUMNS) * CHART.width, 30 + Math.floor(at / COLUMNS) * CHART.height),
    ),
    text(24, height - 14, 'quiet', `${machine}; token and Seat in memory`),
  ])
}

function chart({ label, points }: Curve, left: number, top: number): string[] {
  const sizes = points.map(({ size }) => Math.log10(size))
  const [low = 0, high = 1] = [sizes[0], sizes.at(-1)]
  const ticks = points.map(({ size }, at) => ({
    at: INSET + (1 - 2 * INSET) * (((sizes[at] ?? 0) - low) / (high - low)),
    label: size.toLocaleString('en'),
  }))
  const box = { left: left + 64, right: left + 340, top: top + 56, bottom: top + 140 }
  const values = points.map(({ nanoseconds }) => nanoseconds)
  return [text(left + 24, top + 34, '', label), ...lines(box, ticks, [{ kind: 'median', name: '', values }])]
}
