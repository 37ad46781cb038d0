/** The results of policy tests: as text, JSON, JUnit's XML, and the annotations of GitHub Actions. */

import type { AssertionResult, CaseResult, PolicyResult } from '../access/policy.ts'
import { githubAnnotation } from './github.ts'

export const FORMATS = ['text', 'json', 'junit', 'github'] as const
export type Format = (typeof FORMATS)[number]

export interface Coverage {
  readonly routes: number
  readonly reached: number
  /** Ids of routes. */
  readonly unreached: readonly string[]
}

/** One case or assertion. */
interface Line {
  readonly file: string
  readonly line: number
  readonly name: string
  /** Null: it passes. */
  readonly failure: string | null
}

export function policyOutput(
  format: Format,
  results: readonly PolicyResult[],
  coverage: Coverage | null,
): string {
  const cases = results.flatMap((each) => each.cases)
  const assertions = results.flatMap((each) => each.assertions)
  const lines = [...cases.map(ofCase), ...assertions.map(ofAssertion)]
  const failed = lines.filter(({ failure }) => failure !== null).length
  const passed = lines.length - failed
  if (format === 'json')
    return JSON.stringify(
      { passed, failed, cases, assertions, ...(coverage === null ? {} : { coverage }) },
      null,
      2,
    )
  if (format === 'junit') return junit(lines, failed)
  if (format === 'github') return [...annotations(lines), summary(passed, failed)].join('\n')
  return [...lines.filter(hasFailed).map(asText), ...coverageLines(coverage), summary(passed, failed)].join(
    '\n',
  )
}

function ofCase({ file, line, request, host, expect, got, ok }: CaseResult): Line {
  const asked = `${request}${atHost(host)}`
  return {
    file,
    line,
    name: `${asked} expects ${expect}`,
    failure: ok ? null : `${asked}: expected ${expect}, got ${got}`,
  }
}

function atHost(host: string | undefined): string {
  return host === undefined ? '' : ` at ${host}`
}

function ofAssertion({ file, line, ok, counterexample }: AssertionResult): Line {
  const name = `assertion in line ${line}`
  if (ok || counterexample === undefined) return { file, line, name, failure: null }
  const { request, host, route, seat } = counterexample
  const by = seat === null ? 'without a Seat' : `by Seat "${seat}"`
  return { file, line, name, failure: `refuted: ${request}${atHost(host)} is allowed ${by} (entry ${route})` }
}

function hasFailed({ failure }: Line): boolean {
  return failure !== null
}

function asText({ file, line, failure }: Line): string {
  return `${file}:${line}: ${failure}`
}

function coverageLines(coverage: Coverage | null): string[] {
  if (coverage === null) return []
  const { routes, reached, unreached } = coverage
  return [...unreached.map((id) => `not reached: ${id}`), `${reached} of ${routes} routes are reached`]
}

function summary(passed: number, failed: number): string {
  return `${passed} passed, ${failed} failed`
}

function annotations(lines: readonly Line[]): string[] {
  return lines
    .filter(hasFailed)
    .map(({ file, line, failure }) => githubAnnotation('error', { file, line }, failure ?? ''))
}

function junit(lines: readonly Line[], failed: number): string {
  const cases = lines.map(({ file, line, name, failure }) => {
    const open = `  <testcase classname="${xml(file)}" name="${xml(name)}" file="${xml(file)}" line="${line}"`
    return failure === null ? `${open}/>` : `${open}><failure message="${xml(failure)}"/></testcase>`
  })
  const head = `<testsuite name="seatgate test" tests="${lines.length}" failures="${failed}">`
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...cases, '</testsuite>'].join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function xml(text: string): string {
  return text.replace(/[&<>"]/g, (found) => ENTITIES[found] ?? found)
}
