/** The configuration files of a test's gateway. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Identity } from '../proxy/authority.ts'

export interface ConfigurationOptions {
  /** Lines of the route table below `routes:`, without indentation. */
  readonly routes?: readonly string[]
  /** Lines of the candidate table, in `next/`; left out: there is none. */
  readonly shadow?: readonly string[]
  /** Additional lines of the upstream's entry. */
  readonly upstream?: readonly string[]
  /** Additional lines at the top level. */
  readonly top?: readonly string[]
  /** The upstream's targets; left out: the upstream of the test. */
  readonly target?: string | readonly string[]
  /** The values of `listen`, `ops` and `store`. */
  readonly listen?: string
  readonly ops?: string
  readonly store?: string
  /** Additional entries of tenant acme, such as `oidc: {…}`. */
  readonly acme?: readonly string[]
  /**
   * A second upstream at the same target: its name, additional lines of its entry, and lines of its route
   * table.
   */
  readonly beside?: {
    readonly name: string
    readonly upstream: readonly string[]
    readonly routes: readonly string[]
  }
  /** Further route tables: name of the file → its text. */
  readonly tables?: Readonly<Record<string, string>>
  /** The value of `tables`, in place of files; left out: the tables are in files. */
  readonly tablesFrom?: string
  /** A second listener, with TLS and HTTP/2: its certificate. */
  readonly secure?: Identity
}

const DEFAULT_ROUTES = [
  'GET /v1/trainings: trainings:list',
  'POST /v1/trainings: trainings:create',
  'GET /v1/trainings/{id}: trainings:read',
  'DELETE /v1/trainings/{id}: trainings:delete',
  'GET /v1/files/*: files:read',
  'GET /v1/me: authenticated',
  'GET /docs/*: public',
  'POST /open: public',
]

const SECURE_LISTENERS = `
  - { address: 127.0.0.1:0 }
  - address: 127.0.0.1:0
    http2: true
    tls: { certificates: [{ cert: front.pem, key: front.key }] }`

export function routeTable(lines: readonly string[], upstream = 'main'): string {
  return `upstream: ${upstream}\nroutes:\n${indented(lines, '  ')}`
}

/** Writes files below a folder: name → content. */
export function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  mode = 0o666,
): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode })
  }
}

/** Writes the files into an empty folder. Returns the path of the main file. */
export function writeConfiguration(folder: string, options: ConfigurationOptions = {}): string {
  const { beside, secure, shadow, tables = {} } = options
  const files = {
    'routes/main.yaml': routeTable(options.routes ?? DEFAULT_ROUTES),
    ...(beside && { 'routes/beside.yaml': routeTable(beside.routes, beside.name) }),
    ...Object.fromEntries(Object.entries(tables).map(([name, text]) => [`routes/${name}`, text])),
    ...(shadow && { 'next/main.yaml': routeTable(shadow) }),
    ...(secure && { 'front.pem': secure.cert, 'front.key': secure.key }),
    'gateway.config.yaml': configurationOf(options),
  }
  writeFiles(folder, files, 0o600)
  return join(folder, 'gateway.config.yaml')
}

function configurationOf(options: ConfigurationOptions): string {
  const { beside, secure, shadow } = options
  const target = options.target ?? 'http://127.0.0.1:9'
  const targets = `    targets: ${JSON.stringify(typeof target === 'string' ? [target] : target)}\n`
  const acme = ['token: { secrets: ["${ACME_SECRET}"] }', ...(options.acme ?? [])].join(', ')
  return `listen: ${options.listen ?? (secure === undefined ? '127.0.0.1:0' : SECURE_LISTENERS)}
ops: ${options.ops ?? '127.0.0.1:0'}
store: ${JSON.stringify(options.store ?? 'sqlite:./seatgate.db')}
default_tenant: acme
tenants:
  acme: { ${acme} }
  globex: { token: { secrets: ["\${GLOBEX_SECRET}"] } }
upstreams:
  main:
${targets}${indented(options.upstream, '    ')}${
    beside === undefined ? '' : `  ${beside.name}:\n${targets}${indented(beside.upstream, '    ')}`
  }${options.tablesFrom === undefined ? 'routes: [routes/*.yaml]' : `tables: ${options.tablesFrom}`}
${shadow === undefined ? '' : 'shadow: { routes: [next/*.yaml] }\n'}${indented(options.top, '')}`
}

function indented(lines: readonly string[] = [], by: string): string {
  return lines.map((line) => `${by}${line}\n`).join('')
}
