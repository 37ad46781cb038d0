/**
 * Loads the configuration: the main file, `.env` next to it, and every route table that the main file names.
 * All faults are reported together. Other modules get a Config only from here.
 */

import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { wildcardOf } from '../model/host.ts'
import { type Acceptable, type AcceptedWarnings, acceptedWarnings } from './accepted-warnings.ts'
import { buildSettings } from './build.ts'
import { gatewayFile } from './main-file.ts'
import type { Config, RouteEntry, TablesConfig } from './config.ts'
import { contentHash } from './content-hash.ts'
import { noEnvFile, readEnvFile } from './env-file.ts'
import { ConfigError, displayPath, distinctFaults, sortFaults, type Warning } from './faults.ts'
import { extraAuthoritiesFault } from './extra-authorities.ts'
import { InvalidValue } from './invalid-value.ts'
import { methodsOf } from './methods.ts'
import { readOpenTelemetry } from './open-telemetry.ts'
import { openDocument } from './open-document.ts'
import { filesIn } from './pem.ts'
import { readProviderProxies } from './provider-proxies.ts'
import { NO_CONFIGURATION, readSource } from './read-file.ts'
import type { FileSchema } from './schema.ts'
import type { Section } from './section.ts'
import { buildRoutes, type BuiltTable } from './table-entries.ts'
import { routesFile } from './table-settings.ts'
import { ValueFiles } from './value-files.ts'
import { isCurrent, joinSignatures, listFiles, SETTLE, signatureOf } from './watch.ts'

/** The maximum number of readings of files that change while they are read. */
const READINGS = 10

/** @throws ConfigError with every fault of the file and of its route tables */
export async function loadConfig(file: string, env: NodeJS.ProcessEnv): Promise<Config> {
  const { config, faults, files, signature } = await loadConfigWithFaults(file, env)
  if (config === null) throw new ConfigError(faults, files, signature)
  return config
}

export type LoadResult = Awaited<ReturnType<typeof readOnce>>

/**
 * Returns the valid entries even if there are faults, so that faults of the router are reported at the same
 * time. Files that change while they are read are read again, because half of a change is not a
 * configuration.
 *
 * @param env null: only the tables are needed, and any machine can read them. Other values that contain
 *   variables or name files get their defaults without a fault.
 * @param display returns the path that messages and routes show
 */
export async function loadConfigWithFaults(
  file: string,
  env: NodeJS.ProcessEnv | null,
  display: (path: string) => string = displayPath,
): Promise<LoadResult> {
  for (let readings = 1; ; readings++) {
    const result = await readOnce(file, env, display)
    if (readings === READINGS || (await isCurrent(result.signature))) return result
    await sleep(SETTLE)
  }
}

async function readOnce(file: string, env: NodeJS.ProcessEnv | null, display: (path: string) => string) {
  const path = resolve(file)
  const folder = dirname(path)
  const envFile = env === null ? noEnvFile(folder) : await readEnvFile(folder, display)
  const { warnings: fileWarnings } = envFile
  const comments: AcceptedWarnings[] = []
  const accepts = (warning: Acceptable) => comments.some((each) => each.accepts(warning))
  const variables = { ...envFile.variables, ...env }
  const valueFiles = env === null ? null : new ValueFiles(folder)
  const open = async (each: string, schema: FileSchema) => {
    const isMain = schema === gatewayFile.schema
    const source = await readSource(each, undefined, isMain ? NO_CONFIGURATION : undefined)
    if ('text' in source) comments.push(acceptedWarnings(display(each), source.text, !isMain))
    const isNeeded = env === null && isMain ? decidesRequests : null
    return openDocument(display(each), source, schema, variables, folder, isNeeded, valueFiles)
  }
  const before = await signatureOf([path])
  const main = await open(path, gatewayFile.schema)
  const pemFiles = filesIn(main.document.root, gatewayFile.schema).map((each) => resolve(folder, each))
  const beforePem = await signatureOf(pemFiles)
  const settings = buildSettings(main.root)
  const active = await findRouteTables(main.root, folder)
  const candidate = main.root.has('shadow')
    ? await findRouteTables(main.root.section('shadow'), folder)
    : null
  const paths = [...active.paths, ...(candidate?.paths ?? [])]
  const beforeTables = await signatureOf(paths)
  const { upstreams, api, tenants, limits } = settings
  const context = {
    upstreams: new Set(upstreams.keys()),
    tenants: new Set(tenants.keys()),
    signIn: new Set([...tenants.values()].filter(({ oidc }) => oidc !== null).map(({ id }) => id)),
    maxBody: limits.maxBody,
    methods: methodsOf(settings),
    rateLimits: settings.rateLimits,
  }
  const documents = [main.document]
  // A file may be in both lists: it is read once.
  const tables = new Map<string, BuiltTable>()
  for (const [real, path] of await uniqueFiles(paths)) {
    const { document, root } = await open(path, routesFile.schema)
    documents.push(document)
    tables.set(real, buildRoutes(document, root, context))
  }
  const tablesIn = async (paths: readonly string[]) =>
    [...(await uniqueFiles(paths)).keys()].flatMap((real) => tables.get(real) ?? [])
  const activeTables = await tablesIn(active.paths)
  const candidateTables = candidate === null ? null : await tablesIn(candidate.paths)
  const entries: readonly RouteEntry[] = activeTables.flatMap((table) => table.entries)
  const shadowEntries = candidateTables?.flatMap((table) => table.entries) ?? null
  const inComments = comments.flatMap((each) => each.faults)
  const inDocuments = documents.flatMap((document) => document.faults)
  const { issuers, tokenIssuers } = settings.sources
  const { proxies, faults: ofProxies } = readProviderProxies(variables, [
    ...issuers.values(),
    ...[...tokenIssuers.values()].flat(),
  ])
  const beginning = () => ({ file: display(path), line: 1, column: 1 })
  const extra = extraAuthoritiesFault(env ?? {}, Date.now())
  const ofVariables = extra === null ? [] : [{ place: beginning(), message: extra }]
  const faults = sortFaults([...envFile.faults, ...ofVariables, ...inDocuments, ...inComments, ...ofProxies])
  const ofHosts = distinctFaults([activeTables, candidateTables ?? []].flatMap(hostWarnings))
  const inFiles = [...documents.flatMap((document) => document.warnings), ...ofHosts].filter(
    (each) => !accepts(each),
  )
  const openTelemetry = readOpenTelemetry(variables)
  const ofTelemetry = openTelemetry.warnings.map((message): Warning => ({
    code: 'telemetry_variable',
    place: beginning(),
    message,
  }))
  const ofValues = valueFiles?.signature ?? ''
  const signature = [envFile.signature, before, beforePem, beforeTables, ofValues].reduce(joinSignatures)
  const files = Object.freeze([
    path,
    envFile.path,
    ...pemFiles,
    ...(valueFiles?.paths ?? []),
    ...active.patterns,
    ...(candidate?.patterns ?? []),
  ])
  const config: Config | null =
    faults.length > 0
      ? null
      : Object.freeze({
          ...settings,
          openTelemetry,
          providerProxies: proxies,
          file,
          files,
          signature,
          ...tableOf(entries, settings),
          shadow: shadowEntries === null ? null : tableOf(shadowEntries, settings),
        })
  return {
    /** The configuration; null: there are faults. */
    config,
    faults,
    /** The warnings, without those of the router and those that a comment accepts. */
    warnings: [...fileWarnings, ...ofTelemetry, ...inFiles],
    /** The warnings about the files themselves. */
    fileWarnings,
    /** Whether a comment in a file accepts a warning. */
    accepts,
    /**
     * The entries of the active tables. With faults, they are for checks only: defaults replace faulty
     * settings.
     */
    entries,
    /** The entries of the candidate tables; null: there are none. */
    shadowEntries,
    upstreams,
    api,
    /** Absolute paths and globs to watch for a correction. */
    files,
    /** The state of the files before they were read. */
    signature,
  }
}

/**
 * Finds the files of route tables.
 *
 * @param section has a list `routes` of files and globs. Each must match a file.
 */
async function findRouteTables(section: Section, folder: string) {
  const matched = new Map<string, readonly string[]>()
  for (const text of section.texts('routes', (each) => each))
    matched.set(text, await listFiles(folder, [text]))
  const matching = section.texts('routes', (text) =>
    matched.get(text)?.length === 0
      ? new InvalidValue('matches no file: correct it, or create the file')
      : text,
  )
  return {
    /** The absolute paths of the files. */
    paths: [...new Set(matching.flatMap((text) => matched.get(text) ?? []))],
    /** Absolute paths and globs to watch. */
    patterns: [...matched].map(([text, paths]) => absolutePattern(folder, text, paths)),
  }
}

/** Replaces glob characters in the folder's own name by `?`, which matches them too. */
function absolutePattern(folder: string, text: string, paths: readonly string[]): string {
  const path = resolve(folder, text)
  if (paths.includes(path) || isAbsolute(text)) return path
  return `${folder.replace(/[*?[\]{}()!+@\\]/g, '?')}/${text}`
}

/** Real path → the first path that leads to it, perhaps by symbolic links. */
async function uniqueFiles(paths: readonly string[]): Promise<Map<string, string>> {
  const byRealPath = new Map<string, string>()
  for (const path of paths) {
    const real = await realpath(path).catch(() => path)
    if (!byRealPath.has(real)) byRealPath.set(real, path)
  }
  return byRealPath
}

function tableOf(
  entries: readonly RouteEntry[],
  settings: Pick<Config, 'upstreams' | 'methods' | 'api'>,
): TablesConfig {
  return Object.freeze({ routes: Object.freeze(entries), hash: contentHash(entries, settings) })
}

/** Whether decisions depend on the setting at this path of keys, so that a default cannot replace it. */
function decidesRequests([first, second, third]: readonly string[]): boolean {
  const whole = ['routes', 'shadow', 'methods', 'api', 'api_hosts', 'console', 'rate_limits']
  if (whole.includes(first ?? '')) return true
  if (first === 'limits') return second === 'max_body'
  return first === 'upstreams' && (third?.startsWith('allow_') === true || third === 'base_path')
}

/** The maximum number of warnings about hosts that overlap: further ones would tell nothing new. */
const MAX_WARNINGS = 100

/**
 * Warns of hosts that a table names and that match a wildcard of another table. A named host never falls back
 * to a wildcard, so the entries of the wildcard's table do not serve it. A table that lists both is
 * intentional.
 */
function hostWarnings(tables: readonly BuiltTable[]): Warning[] {
  const named = tables.flatMap(({ hosts }) => hosts ?? [])
  const served = named.flatMap((table) => table.hosts.map((host) => ({ host, table })))
  const byHost = Map.groupBy(served, ({ host }) => host)
  const warnings = [...byHost].flatMap(([host, [first]]): Warning[] => {
    const wildcard = host.startsWith('*') ? null : wildcardOf(host)
    const others = wildcard === null ? undefined : byHost.get(wildcard)
    const other = others?.find(({ table }) => !table.hosts.includes(host))
    if (other === undefined || first === undefined) return []
    const { file, line } = other.table.place
    const message =
      `${host} matches ${wildcard} of ${file}:${line} too, but gets nothing from that table: a named host ` +
      `does not fall back to a wildcard. To serve it there as well, list ${host} beside ${wildcard}`
    return [{ code: 'shadowed_wildcard', place: first.table.place, message }]
  })
  return warnings.slice(0, MAX_WARNINGS)
}
