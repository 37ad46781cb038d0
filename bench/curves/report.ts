/** The curves as Markdown. */

import type { Curve, Curves } from './measure.ts'

export type { Curves } from './measure.ts'

export function curveLines({ curves, memory }: Curves): string[] {
  const bytes = memory.map(
    ({ label, bytes: each }) => `| ${label} | ${Math.round(each).toLocaleString('en')} bytes |`,
  )
  return [
    '## Cost against size',
    '',
    'A decision in process, token and Seat known; and what memory each thing takes.',
    '',
    '![cost of a decision against routes, Seats, tenants, tokens and entries](curves.svg)',
    '',
    '| | |',
    '|---|---|',
    ...curves.map(curveLine),
    ...bytes,
  ]
}

function curveLine({ label, points }: Curve): string {
  const sizes = points.map(({ size }) => size.toLocaleString('en')).join(' / ')
  const costs = points.map(({ nanoseconds }) => nanoseconds.toFixed(0)).join(' / ')
  return `| ${label}: ${sizes} | ${costs} ns |`
}
