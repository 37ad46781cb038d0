/** Compares the results of a suite with docs/conformance.md, which has its figures and each known deviation with the reason. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { root } from '../docs/pages.ts'

/** Name of a case → how it deviates; null: it passes. */
export type Results = ReadonlyMap<string, string | null>

/** @param suite its name in the first column of the page, and the heading of its deviations */
export function compare(t: Test, suite: string, results: Results): void {
  const page = readFileSync(join(root, 'docs/conformance.md'), 'utf8')
  t.same(differences(page, suite, results), [], `${suite}: as docs/conformance.md says`)
}

/** @returns a sentence for each thing that the page does not say, or says wrongly */
export function differences(page: string, suite: string, results: Results): string[] {
  const rows = deviationsIn(page, suite)
  const unlisted = [...results].filter(([name, deviation]) => deviation !== null && !rows.has(name))
  const obsolete = [...rows].filter((name) => (results.get(name) ?? null) === null)
  const passes = [...results.values()].filter((deviation) => deviation === null).length
  const figures = figuresIn(page, suite)
  return [
    ...unlisted.map(([name, deviation]) => `${name} deviates, and has no row: ${deviation}`),
    ...obsolete.map((name) => `${name} has a row, and ${results.has(name) ? 'passes' : 'is no case'}`),
    ...(figures === `${results.size} | ${passes}`
      ? []
      : [`of ${results.size} cases ${passes} pass, and not ${figures}`]),
  ]
}

/** The cases between backticks in the first column below the heading. */
function deviationsIn(page: string, suite: string): ReadonlySet<string> {
  const [, section = ''] = page.split(`\n## ${suite}\n`)
  const [own = ''] = section.split('\n## ')
  const cells = own.split('\n').map((line) => /^\| (`[^|]*`) +\|/.exec(line)?.[1] ?? '')
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)))
}

/** The third and the fourth column. */
function figuresIn(page: string, suite: string): string {
  const row = page.split('\n').find((line) => line.startsWith(`| ${suite} |`)) ?? ''
  const [cases = '', passed = ''] = row.split('|').slice(3)
  return `${cases.trim()} | ${passed.trim()}`
}
