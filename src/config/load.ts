/**
 * Loads the configuration: the main file and every route table that it names. Reports all faults at once. Other modules
 * get a Config only from here.
 */

import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { wildcardOf } from '../model/host.ts'
import { type Acceptable, type AcceptedWarnings, acceptedWarnings } from './accepted-warnings.ts'
import { buildSettings } from './build.ts'
import type { Config, RouteEntry, SettingSource, TablesConfig, UpstreamConfig } from './config.ts'
import { contentHash } from './content-hash.ts'
import { noEnvFile, readEnvFile } from './env-file.ts'
import { ConfigError, type Fault, formatFault, sortFaults, type Warning } from './faults.ts'
import { identityFiles } from './identity.ts'
import { listenerFiles } from './listeners.ts'
import { methodsOf } from './methods.ts'
import { readOpenTelemetry } from './open-telemetry.ts'
import { openDocument, type OpenedDocument } from './open-document.ts'
import { readProviderProxies } from './provider-proxies.ts'
import { readSource } from './read-file.ts'
import type { SchemaName } from './schema.ts'
import { buildRoutes, type BuiltTable, type TableHosts } from './table-entries.ts'
import { findRouteTables, type TableFiles, uniqueFiles } from './table-files.ts'
import { joinSignatures, signatureOf } from './watch.ts'

const NO_CONFIGURATION = 'correct the path of the configuration, or make one by seatgate init'

/** Also with faults the readable entries are returned, so that the router's faults can be reported at the same time. */
export interface LoadResult {
  /** Null when there are faults. */
  readonly config: Config | null
  readonly faults: readonly Fault[]
  /** Without those of the tables, and without accepted ones. */
  readonly warnings: readonly Warning[]
  /** About the files themselves. */
  readonly fileWarnings: readonly Warning[]
  /** Whether a comment in a file accepts it. */
  readonly accepts: (found: Acceptable) => boolean
  /** For checks only when there are faults: defaults replace faulty settings. */
  readonly entries: readonly RouteEntry[]
  /** Of the candidate tables; null: there are none. */
  readonly shadowEntries: readonly RouteEntry[] | null
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>
  readonly api: Config['api']
  /** Absolute paths and globs to watch for a correction. */
  readonly files: readonly string[]
}

/** @throws ConfigError with every fault of the file and of its route tables */
export async function loadConfig(file: string, env: NodeJS.ProcessEnv): Promise<Config> {
  const { config, faults, files } = await loadConfigWithFaults(file, env)
  if (config === null) throw new ConfigError(faults, files)
  return config
}

/**
 * @param env null: the tables are wanted, on whatever machine. Other values with variables, and those that name files, are
 *   left out without a fault, and defaults replace them.
 * @param display the path as messages and routes have it
 */
export async function loadConfigWithFaults(
  file: string,
  env: NodeJS.ProcessEnv | null,
  display: (path: string) => string = displayPath,
): Promise<LoadResult> {
  const path = resolve(file)
  const folder = dirname(path)
  const envFile = env === null ? noEnvFile(folder) : await readEnvFile(folder, display)
  const { warnings: fileWarnings } = envFile
  const comments: AcceptedWarnings[] = []
  const accepts = (found: Acceptable) => comments.some((each) => each.accepts(found))
  const variables = { ...envFile.variables, ...env }
  const open = async (each: string, kind: SchemaName) => {
    const source = await readSource(each, undefined, kind === 'gateway' ? NO_CONFIGURATION : undefined)
    if ('text' in source) comments.push(acceptedWarnings(display(each), source.text, kind))
    const isNeeded = env === null && kind === 'gateway' ? decidesRequests : null
    return openDocument(display(each), source, kind, variables, isNeeded)
  }
  const before = await signatureOf([path])
  const main = await open(path, 'gateway')
  const pemFiles = [...listenerFiles(main.root, folder), ...identityFiles(main.root, folder)]
  const beforePem = await signatureOf(pemFiles)
  const settings = buildSettings(main.root, folder)
  const active = await findRouteTables(main.root, folder)
  const candidate = main.root.has('shadow')
    ? await findRouteTables(main.root.section('shadow'), folder)
    : null
  const paths = [...active.paths, ...(candidate?.paths ?? [])]
  const signature = [envFile.signature, before, beforePem, await signatureOf(paths)].reduce(joinSignatures)
  const { upstreams, api, tenants, limits } = settings
  // A file may be in both lists.
  const tables = new Map<string, OpenedDocument>()
  for (const [real, path] of await uniqueFiles(paths)) tables.set(real, await open(path, 'routes'))
  const context = {
    upstreams: new Set(upstreams.keys()),
    tenants: new Set(tenants.keys()),
    signIn: new Set([...tenants.values()].filter(({ oidc }) => oidc !== null).map(({ id }) => id)),
    maxBody: limits.maxBody,
    methods: methodsOf(settings),
    rateLimits: settings.rateLimits,
  }
  const built = new Map<string, BuiltTable>()
  for (const [real, { document, root }] of tables) built.set(real, buildRoutes(document, root, context))
  const tablesIn = async (files: TableFiles) =>
    [...(await uniqueFiles(files.paths)).keys()].flatMap((real) => built.get(real) ?? [])
  const activeTables = await tablesIn(active)
  const candidateTables = candidate === null ? null : await tablesIn(candidate)
  const entries = entriesOf(activeTables)
  const shadowEntries = candidateTables === null ? null : entriesOf(candidateTables)
  const documents = [main, ...tables.values()].map(({ document }) => document)
  const inComments = comments.flatMap((each) => each.faults)
  const inDocuments = documents.flatMap((document) => document.faults)
  const { proxies, faults: ofProxies } = readProviderProxies(variables, issuersOf(settings.sources))
  const faults = sortFaults([...envFile.faults, ...inDocuments, ...inComments, ...ofProxies])
  const ofHosts = distinct([activeTables, candidateTables ?? []].flatMap(hostWarnings))
  const inFiles = [...documents.flatMap((document) => document.warnings), ...ofHosts].filter(
    (each) => !accepts(each),
  )
  const warnings = [...fileWarnings, ...inFiles]
  const files = Object.freeze([
    path,
    envFile.path,
    ...pemFiles,
    ...active.patterns,
    ...(candidate?.patterns ?? []),
  ])
  const config =
    faults.length > 0
      ? null
      : Object.freeze({
          ...settings,
          openTelemetry: await readOpenTelemetry(variables),
          providerProxies: proxies,
          file,
          files,
          signature,
          ...tableOf(entries, settings),
          shadow: shadowEntries === null ? null : tableOf(shadowEntries, settings),
        })
  return {
    config,
    faults,
    warnings,
    fileWarnings,
    accepts,
    entries,
    shadowEntries,
    upstreams,
    api,
    files,
  }
}

function issuersOf({ issuers, tokenIssuers }: Config['sources']): SettingSource[] {
  return [...issuers.values(), ...[...tokenIssuers.values()].flat()]
}

/** A file may be in both lists. */
function distinct(found: readonly Warning[]): Warning[] {
  return [...new Map(found.map((each) => [formatFault(each), each])).values()]
}

function entriesOf(tables: readonly BuiltTable[]): RouteEntry[] {
  return tables.flatMap(({ entries }) => entries)
}

function tableOf(
  entries: readonly RouteEntry[],
  settings: Pick<Config, 'upstreams' | 'methods' | 'api'>,
): TablesConfig {
  return Object.freeze({ routes: Object.freeze(entries), hash: contentHash(entries, settings) })
}

/** Whether the answers to requests depend on the setting: then it can't be left out. */
function decidesRequests([first, second, third]: readonly string[]): boolean {
  if (['routes', 'shadow', 'methods', 'api', 'api_hosts', 'console'].includes(first ?? '')) return true
  if (first === 'limits') return second === 'max_body'
  return first === 'upstreams' && (third?.startsWith('allow_') === true || third === 'base_path')
}

/** Relative to the working directory when the file is inside it, otherwise absolute. */
function displayPath(path: string): string {
  const below = relative(process.cwd(), path)
  return below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? path : below
}

/** Bounds the output: further warnings of hosts that overlap add nothing. */
const MAX_WARNINGS = 100

/**
 * A named host never falls back to a wildcard: entries of the wildcard's table do not serve it. A table that lists both, or
 * several tables that list the same hosts, say so themselves.
 */
function hostWarnings(tables: readonly BuiltTable[]): Warning[] {
  const named = tables.flatMap(({ hosts }) => hosts ?? [])
  const byHost = new Map<string, TableHosts[]>()
  for (const table of named)
    for (const host of table.hosts) byHost.set(host, [...(byHost.get(host) ?? []), table])
  const warnings: Warning[] = []
  for (const [host, of] of byHost) {
    const wildcard = wildcardOf(host)
    if (wildcard === null || host.startsWith('*')) continue
    const other = (byHost.get(wildcard) ?? []).find((table) => !table.hosts.includes(host))
    const [first] = of
    if (other === undefined || first === undefined || warnings.length >= MAX_WARNINGS) continue
    warnings.push({
      code: 'shadowed_wildcard',
      place: first.place,
      message: shadowedWildcard(host, wildcard, other),
    })
  }
  return warnings
}

function shadowedWildcard(host: string, wildcard: string, { place }: TableHosts): string {
  return (
    `${host} matches ${wildcard} of ${place.file}:${place.line} too, but gets nothing from that table: a named host ` +
    `does not fall back to a wildcard. To serve it there as well, list ${host} beside ${wildcard}`
  )
}
