/** One test file: its process, its results, its end. */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { performance } from 'node:perf_hooks'
import { type FinalResults, Parser, type Result } from 'tap-parser'
import { signalGroup, startTest } from './processes.ts'

/** Seconds for a file; tap then says which test had not ended. */
const TIMEOUT = 300
/** Milliseconds for a file whose process cannot say so. */
const LIMIT = 1000 * (TIMEOUT + 10)
/** How a comment of TAP begins that is printed. */
const NOTE = '# note: '
/** Lines of standard error that a failed file shows. */
const MOST_LINES = 40

export interface FileResult {
  readonly file: string
  readonly ms: number
  readonly passed: number
  /** Name and reason of each skipped test. */
  readonly skipped: readonly string[]
  /** Lines that the file prints even if it passes. */
  readonly notes: readonly string[]
  /** Texts of some lines each; none: the file passed. */
  readonly failures: readonly string[]
}

/** @param env additional variables of its process */
export async function runFile(file: string, env?: NodeJS.ProcessEnv): Promise<FileResult> {
  const startedAt = performance.now()
  const child = startTest(file, TIMEOUT, env)
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), LIMIT)
  const results = resultsOf(child)
  const errors = child.stderr === null ? '' : text(child.stderr)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  const { passed, skipped, notes, failures, final } = await results
  const ms = performance.now() - startedAt
  const faults = [...failures]
  if (faults.length === 0) faults.push(...faultsOf(final, code, signal))
  if (faults.length > 0) faults.push(...lastLines(await errors))
  return { file, ms, passed, skipped, notes, failures: faults }
}

interface Results {
  readonly passed: number
  readonly skipped: readonly string[]
  readonly notes: readonly string[]
  readonly failures: readonly string[]
  readonly final: FinalResults
}

async function resultsOf(child: ChildProcess): Promise<Results> {
  const parser = new Parser()
  let passed = 0
  const skipped: string[] = []
  const notes: string[] = []
  const failures: string[] = []
  parser.on('comment', (text: string) => {
    if (text.startsWith(NOTE)) notes.push(text.slice(NOTE.length).trim())
  })
  parser.on('pass', () => void passed++)
  parser.on('skip', (result) => void skipped.push(describeSkip(result)))
  parser.on('fail', (result) => void failures.push(describeFailure(result)))
  const complete = once(parser, 'complete')
  child.stdout?.pipe(parser)
  const [final] = (await complete) as [FinalResults]
  return { passed, skipped, notes, failures, final }
}

/**
 * Faults that no assertion reports: an exception outside of the tests, a plan that was not kept, a file
 * without a test.
 */
function faultsOf(final: FinalResults, code: number | null, signal: NodeJS.Signals | null): string[] {
  if (signal !== null) return [`ended by ${signal}`]
  if (!final.ok) return [`wrong TAP: ${JSON.stringify(final.failures)}`]
  if (code !== 0) return [`exit code ${code}`]
  if (final.count === 0) return ['no test']
  return []
}

function lastLines(errors: string): string[] {
  const lines = errors.trimEnd().split('\n').slice(-MOST_LINES)
  return lines.join('') === '' ? [] : [`standard error:\n${lines.join('\n')}`]
}

interface Diagnostics {
  readonly at?: { readonly fileName?: string; readonly lineNumber?: number; readonly columnNumber?: number }
  readonly diff?: string
  readonly stack?: string
  readonly [name: string]: unknown
}

/** Already in the text, or of no use in it. */
const LEFT_OUT = new Set(['at', 'diff', 'stack', 'source', 'compare', 'failures', 'handles'])

/** `place name`, what differs, other diagnostics, and the stack. */
function describeFailure({ fullname, name, diag }: Result): string {
  const { at, diff, stack, ...more }: Diagnostics = diag ?? {}
  const place = at === undefined ? '' : `${at.fileName}:${at.lineNumber}:${at.columnNumber} `
  const others = Object.entries(more)
    .filter(([key]) => !LEFT_OUT.has(key))
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value.trimEnd() : JSON.stringify(value)}`)
  const title = fullname.endsWith(name) ? fullname : `${fullname} > ${name}`
  return [`${place}${title}`, ...present(diff), ...others, ...present(stack)].join('\n')
}

/** `name: reason` */
function describeSkip({ fullname, skip }: Result): string {
  return `${fullname.replace(' > (unnamed test)', '')}: ${typeof skip === 'string' ? skip : 'no reason given'}`
}

function present(text: string | undefined): string[] {
  return text === undefined ? [] : [text.trimEnd()]
}
