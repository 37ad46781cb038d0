/** Route tables, random ones among them, and the gateway's own answer to each request. */

import fc from 'fast-check'
import type { Tables } from '../../src/access/tables.ts'
import { exceptionsOf } from '../../src/decision/router/pattern.ts'
import type { RouteEntry } from '../../src/config/config.ts'
import { methodsOf } from '../../src/config/methods.ts'
import { DecisionEngine } from '../../src/decision/engine.ts'
import { compileTable } from '../../src/decision/router/table.ts'
import { ReceivedChanges } from '../../src/decision/seats/received-changes.ts'
import { Refusal } from '../../src/model/errors.ts'
import type { Route } from '../../src/model/route.ts'
import { builtInPaths } from '../../src/composition.ts'

export const UPSTREAMS = new Map([
  ['plain', { allowSemicolons: false, allowEncodedSlashes: false }],
  ['semicolons', { allowSemicolons: true, allowEncodedSlashes: false }],
  ['slashes', { allowSemicolons: false, allowEncodedSlashes: true }],
])

const UNCHANGED = new ReceivedChanges()

export interface TablesInput {
  /** `METHOD /path: requirement`, with ` > upstream` where it is not `plain`, and `host,host` before the path. */
  readonly lines: readonly string[]
  readonly methods?: readonly string[]
  /** Of built-in endpoints. */
  readonly apiHosts?: readonly string[]
}

/** @param text a line of `TablesInput` */
export function readLine(text: string, index: number): RouteEntry {
  const [, method = '', names = '', path = '', requirement = '', upstream = 'plain'] =
    /^(\S+) ([^\s/]*)(\S+): (\S+)(?: > (\S+))?$/.exec(text) ?? []
  const hosts = names === '' ? {} : { hosts: names.split(',') }
  const place = { file: 'routes/a.yaml', line: index + 1, column: 3 }
  const limits = { responseTimeout: null, signIn: null, maxBody: 1 }
  return { method, ...hosts, path, requirement, upstream, ...limits, place }
}

/** Entries that can't be served are left out, as `check` refuses them. */
export function tablesOf({ lines, methods = [], apiHosts }: TablesInput): Tables {
  const { table } = compileTable(lines.map(readLine), UPSTREAMS, builtInPaths(), apiHosts ?? null)
  return { table, methods: methodsOf({ methods }), upstreams: UPSTREAMS }
}

/** Those that can be served. */
export function entriesOf(input: TablesInput): RouteEntry[] {
  const served = new Set(tablesOf(input).table.routes.map(({ place }) => place?.line))
  return input.lines.map(readLine).filter(({ place }) => served.has(place.line))
}

const noCredential = new Refusal('credentials_missing', 'The request has no credential.')

/** The entry that the decision engine matches; null: it refuses the request before it reads a credential. */
export function oracle(tables: Tables): (method: string, path: string, host?: string | null) => Route | null {
  const engine = new DecisionEngine({
    table: tables.table,
    authenticator: { authenticate: () => noCredential },
    seats: unused,
    restrictions: { restriction: () => null },
    lease: { live: () => true, renewed: () => Promise.reject(new Error('not asked')) },
    targetBytes: 8192,
    exceptions: (route) => exceptionsOf(tables.upstreams, route),
  })
  return (method, target, host = null) => {
    if (!tables.methods.has(method)) return null
    const credentials = { apiKey: [], authorization: [], cookie: [], space: [] }
    const browser = { method, rawHeaders: [], upgrade: false }
    const evaluation = engine.evaluate({ method, target, host, credentials, browser })
    if (evaluation instanceof Promise) throw new Error('without a credential nothing is looked up')
    return evaluation.decision.route
  }
}

/** No credential, so no Seat is looked up. */
const unused = new Proxy({} as ConstructorParameters<typeof DecisionEngine>[0]['seats'], {
  get: (_, name) => {
    if (name === 'received') return UNCHANGED
    throw new Error(`${String(name)} is not expected`)
  },
})

const METHODS = ['GET', 'HEAD', 'POST', 'DELETE', 'ANY', 'OPTIONS', 'PURGE']
const TEXTS = ['a', 'b', 'a%2Fb', 'b;c']
const REQUIREMENTS = ['public', 'authenticated', 'p:q', 'r:s', '*']
const ENTRIES = 24

/** A table, and another that differs from it in a few entries, or in all. @param depth segments of a path */
export function pairs(depth: number): fc.Arbitrary<readonly [TablesInput, TablesInput]> {
  const segments = fc.array(fc.constantFrom(...TEXTS, '{}', '{}', '{}'), { maxLength: depth - 1 })
  const path = fc.tuple(segments, fc.constantFrom('', '', '/', '/*')).map(([parts, end]) => {
    const named = parts.map((part, index) => `/${part === '{}' ? `{p${index}}` : part}`)
    return named.join('') + end || '/'
  })
  const line = fc
    .tuple(
      fc.constantFrom(...METHODS),
      path,
      fc.constantFrom(...REQUIREMENTS),
      fc.constantFrom(...UPSTREAMS.keys()),
    )
    .map(([method, where, requirement, upstream]) => `${method} ${where}: ${requirement} > ${upstream}`)
  const lines = fc.array(line, { maxLength: ENTRIES })
  const kept = fc.array(fc.nat(3), { minLength: ENTRIES, maxLength: ENTRIES })
  const methods = fc.constantFrom<readonly string[]>(['PURGE'], [])
  return fc
    .tuple(lines, lines, kept, fc.boolean(), methods, methods)
    .map(([one, other, chances, related, of, ofOther]) => {
      const shared = related ? one.filter((_, index) => chances[index] !== 0) : []
      const added = related ? other.slice(0, 3) : other
      return [
        { lines: one, methods: of },
        { lines: [...shared, ...added], methods: ofOther },
      ]
    })
}

const NAMES = ['', '', 'a.example', '*.example', 'a.example,*.example', 'b.example,a.example', '*.b.example']
/** One of each class that such tables can tell apart. */
export const EVERY_HOST = [null, 'a.example', 'B.example.', 'c.example:80', 'x.b.example', 'a.b.c.example']

/** As `pairs`, with hosts. */
export function hostPairs(depth: number): fc.Arbitrary<readonly [TablesInput, TablesInput]> {
  const names = fc.array(fc.constantFrom(...NAMES), { minLength: ENTRIES * 2, maxLength: ENTRIES * 2 })
  return fc.tuple(pairs(depth), names).map(([[one, other], hosts]) => {
    const withHosts = ({ lines, ...rest }: TablesInput, by: number) => ({
      ...rest,
      lines: lines.map((line, at) => line.replace(' ', ` ${hosts[at * by] ?? ''}`)),
    })
    return [withHosts(one, 1), withHosts(other, 2)]
  })
}

/** Those that entries name, and one for all others. */
export const EVERY_METHOD = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PURGE', 'PUT']

/** The paths of all kinds that such tables can tell apart. No upstream accepts both a semicolon and an encoded slash. */
export function everyPath(depth: number): string[] {
  const texts = [...TEXTS, 'x', 'x;', 'x%2F']
  const found: string[] = []
  let prefixes = ['/']
  for (let at = 0; at < depth; at++) {
    found.push(...prefixes.flatMap((prefix) => ['', ...texts].map((text) => prefix + text)))
    prefixes = prefixes.flatMap((prefix) => texts.map((text) => `${prefix}${text}/`))
  }
  return found
}
