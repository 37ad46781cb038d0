/** `seatgate test`: checks policy tests. */

import { glob } from 'node:fs/promises'
import type { Store } from '../../seats-admin/index.ts'
import {
  type AssertionResult,
  type CaseResult,
  checkPolicy,
  faultsOfPolicy,
  type PolicyResult,
} from '../access/policy.ts'
import { tablesOf } from '../access/tables.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/faults.ts'
import { quote } from '../config/invalid-value.ts'
import { loadConfig } from '../config/load.ts'
import { type PolicyFile, readPolicyFile } from '../config/policy-file.ts'
import type { Route } from '../model/route.ts'
import { CONFIG, formatOption, UsageError } from './arguments.ts'
import { githubAnnotation, xml } from './ci-output.ts'
import { CommandFailed, defineCommand } from './command.ts'
import { openExistingStore } from './existing-store.ts'
import { loadDecidingTables } from './deciding-tables.ts'
import { seatsOf } from './seat-source.ts'

const FORMATS = ['text', 'json', 'junit', 'github'] as const
const DEFAULT_FILES = 'policy/*.yaml'
const FAILED = 3

export const test = defineCommand({
  name: 'test',
  summary:
    'Runs policy tests: requests with the answer that each must get, and assertions about all requests.',
  details:
    "Cases are decided by the gateway's own code. An assertion is proved for every possible request, or refuted by one. Environment variables are needed only to read Seats from the store.",
  positionals: [
    {
      name: 'FILE',
      description: 'files with policy tests',
      default: DEFAULT_FILES,
      completes: 'file',
      multiple: true,
    },
  ],
  options: {
    config: CONFIG,
    format: formatOption(FORMATS),
    coverage: { description: 'lists the routes that no case and no assertion reaches' },
    'min-coverage': { value: 'N', description: 'fails below N percent of the routes' },
  },
  exits: {
    0: 'all tests pass',
    1: 'a file has faults, or checks nothing',
    3: 'a test fails, or the coverage is too low',
  },
  example: 'seatgate test policy/acme.yaml --coverage',
  run: async ({ values, positionals }, terminal) => {
    const least = percentOf(values['min-coverage'])
    const files = await filesOf(positionals)
    const { config, table } = await loadDecidingTables(values.config, terminal, { env: null })
    const tables = tablesOf(config, table)
    /** The store, which is opened for the first policy without Seats of its own. */
    let store = null as Store | null
    const storedSeats = async (tenant: string) => {
      store ??= await openExistingStore(await loadConfig(values.config, terminal.env), terminal)
      return Array.fromAsync(seatsOf(store, tenant))
    }
    const results: PolicyResult[] = []
    try {
      for (const file of files) {
        const policy = await readPolicyFile(file, terminal.env)
        refuseUnknownTenant(config, policy)
        const seats = policy.seats ?? (await storedSeats(policy.tenant))
        const faults = faultsOfPolicy(policy, { tables, seats })
        if (faults.length > 0) throw new ConfigError(faults)
        results.push(checkPolicy(policy, { tables, seats, targetBytes: config.limits.targetBytes }))
      }
    } finally {
      await store?.close()
    }
    const coverage = values.coverage || least !== null ? coverageOf(table.routes, results) : null
    await terminal.print(policyOutput(values.format, results, coverage))
    const failed = results.some(({ cases, assertions }) => [...cases, ...assertions].some(({ ok }) => !ok))
    const tooLow = coverage !== null && least !== null && coverage.reached * 100 < least * coverage.routes
    if (tooLow) terminal.printError(`seatgate test: the coverage is below ${least} %`)
    return failed || tooLow ? FAILED : 0
  },
})

function refuseUnknownTenant({ file, tenants }: Config, { tenant, tenantPlace: place }: PolicyFile): void {
  if (tenants.has(tenant)) return
  const message = `${file} has no tenant ${quote(tenant)} (it has ${[...tenants.keys()].join(', ')})`
  throw new ConfigError([{ place, message }])
}

function percentOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^(?:100|[0-9]{1,2})$/.test(text)) return Number(text)
  throw new UsageError(`--min-coverage "${text}" is not a number from 0 to 100`)
}

/** The files of the patterns. The shell has expanded patterns without quotes. */
async function filesOf(positionals: readonly string[]): Promise<string[]> {
  const all: string[] = []
  for (const each of positionals) {
    const files = (await Array.fromAsync(glob(each))).sort()
    if (files.length === 0)
      throw new CommandFailed(`there is no file ${each}: write policy tests there, or name other files`)
    all.push(...files)
  }
  return [...new Set(all)]
}

/** The coverage of the routes, without the built-in ones; `unreached` has ids. */
function coverageOf(routes: readonly Route[], results: readonly PolicyResult[]) {
  const own = routes.filter(({ place }) => place !== null)
  const unreached = own.filter((route) => !results.some(({ reached }) => reached.has(route)))
  return {
    routes: own.length,
    reached: own.length - unreached.length,
    unreached: unreached.map(({ id }) => id),
  }
}

/** The result of one case or assertion. */
interface Line {
  readonly file: string
  readonly line: number
  readonly name: string
  /** The fault; null if it passes. */
  readonly failure: string | null
}

function policyOutput(
  format: (typeof FORMATS)[number],
  results: readonly PolicyResult[],
  coverage: ReturnType<typeof coverageOf> | null,
): string {
  const cases = results.flatMap((each) => each.cases)
  const assertions = results.flatMap((each) => each.assertions)
  const lines = [...cases.map(ofCase), ...assertions.map(ofAssertion)]
  const failures = lines.flatMap((each) =>
    each.failure === null ? [] : [{ ...each, failure: each.failure }],
  )
  const [passed, failed] = [lines.length - failures.length, failures.length]
  const summary = `${passed} passed, ${failed} failed`
  if (format === 'json') {
    const all = { passed, failed, cases, assertions, coverage: coverage ?? undefined }
    return JSON.stringify(all, null, 2)
  }
  if (format === 'junit') return junit(lines, failed)
  if (format === 'github') {
    const annotations = failures.map((each) => githubAnnotation('error', each, each.failure))
    return [...annotations, summary].join('\n')
  }
  const texts = failures.map(({ file, line, failure }) => `${file}:${line}: ${failure}`)
  return [...texts, ...coverageLines(coverage), summary].join('\n')
}

function ofCase({ file, line, request, host, expect, got, ok }: CaseResult): Line {
  const what = host === undefined ? request : `${request} at ${host}`
  return {
    file,
    line,
    name: `${what} expects ${expect}`,
    failure: ok ? null : `${what}: expected ${expect}, got ${got}`,
  }
}

function ofAssertion({ file, line, ok, counterexample }: AssertionResult): Line {
  const name = `assertion in line ${line}`
  if (ok || counterexample === undefined) return { file, line, name, failure: null }
  const { request, host, route, seat } = counterexample
  const what = host === undefined ? request : `${request} at ${host}`
  const by = seat === null ? 'without a Seat' : `by Seat "${seat}"`
  return { file, line, name, failure: `refuted: ${what} is allowed ${by} (entry ${route})` }
}

function coverageLines(coverage: ReturnType<typeof coverageOf> | null): string[] {
  if (coverage === null) return []
  const { routes, reached, unreached } = coverage
  return [...unreached.map((id) => `not reached: ${id}`), `${reached} of ${routes} routes are reached`]
}

function junit(lines: readonly Line[], failed: number): string {
  const cases = lines.map(({ file, line, name, failure }) => {
    const open = `  <testcase classname="${xml(file)}" name="${xml(name)}" file="${xml(file)}" line="${line}"`
    return failure === null ? `${open}/>` : `${open}><failure message="${xml(failure)}"/></testcase>`
  })
  const head = `<testsuite name="seatgate test" tests="${lines.length}" failures="${failed}">`
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...cases, '</testsuite>'].join('\n')
}
