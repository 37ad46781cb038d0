/** Tables of findings: for one or more codes, separated by spaces, the cause and the advice. */

import type { Finding } from './fault.ts'

/** `{name}` stands for the value of that name. */
type Row = readonly [cause: string, advice: string]
type Rows = Readonly<Record<string, Row>>

/**
 * The texts that rows are completed with. No value is a template itself: it may be text that a server has
 * sent.
 */
type Values = Readonly<Record<string, string | number>>

/** The row of `other` is for every code without a row. Without it, such a code has no finding. */
export function findingTable(rows: Rows & { other: Row }): (code: string, values: Values) => Finding
export function findingTable(rows: Rows): (code: string, values: Values) => Finding | null
export function findingTable(rows: Rows) {
  const byCode = new Map(
    Object.entries(rows).flatMap(([codes, row]) => codes.split(' ').map((code) => [code, row] as const)),
  )
  return (code: string, values: Values) => {
    const row = byCode.get(code) ?? byCode.get('other')
    if (row === undefined) return null
    const [cause, advice] = row
    return { cause: completed(cause, values), advice: completed(advice, values) }
  }
}

function completed(template: string, values: Values): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}
