/**
 * Loads the configuration: the main file, `.env` next to it, and every route table that the main file names.
 * All faults are reported together. Other modules get a Config only from here.
 */

import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ActiveTables, NO_TABLES } from '../../seats-admin/model/tables-version.ts'
import { wildcardOf } from '../model/host.ts'
import { type Acceptable, type AcceptedWarnings, acceptedWarnings } from './accepted-warnings.ts'
import { buildSettings } from './build.ts'
import { gatewayFile } from './main-file.ts'
import type { Config, RouteEntry, TablesConfig } from './config.ts'
import { contentHash } from './content-hash.ts'
import { noEnvFile, readEnvFile } from './env-file.ts'
import { ConfigError, displayPath, distinctFaults, sortFaults, type Warning } from './faults.ts'
import { extraAuthoritiesFault } from './extra-authorities.ts'
import { methodsOf } from './methods.ts'
import { readOpenTelemetry } from './open-telemetry.ts'
import { openDocument } from './open-document.ts'
import { filesIn } from './pem.ts'
import { readProviderProxies } from './provider-proxies.ts'
import { NO_CONFIGURATION, readSource } from './read-file.ts'
import type { FileSchema } from './schema.ts'
import type { Document } from './positioned-document.ts'
import { type BuiltTables, buildStored } from './tables-of-store.ts'
import { buildRoutes, type BuiltTable } from './table-entries.ts'
import { findRouteTables, uniqueFiles } from './table-files.ts'
import { type RouteContext, routesFile } from './table-settings.ts'
import { ValueFiles } from './value-files.ts'
import { isCurrent, joinSignatures, SETTLE, signatureOf } from './watch.ts'

/** The maximum number of readings of files that change while they are read. */
const READINGS = 10

/** @throws ConfigError with every fault of the file and of its route tables */
export async function loadConfig(file: string, env: NodeJS.ProcessEnv): Promise<Config> {
  const { config, faults, files, signature } = await loadConfigWithFaults(file, env)
  if (config === null) throw new ConfigError(faults, files, signature)
  return config
}

type TableSetId = Pick<ActiveTables, 'version' | 'digest'>

export type LoadResult = ReturnType<typeof assemble>

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
  const main = await readMain(file, env, display)
  return assemble(main, await readTables(main))
}

type MainFile = Awaited<ReturnType<typeof readMain>>

/** Reads the main file, `.env` and the files that they name, but for the tables. */
async function readMain(file: string, env: NodeJS.ProcessEnv | null, display: (path: string) => string) {
  const path = resolve(file)
  const folder = dirname(path)
  const envFile = env === null ? noEnvFile(folder) : await readEnvFile(folder, display)
  const variables = { ...envFile.variables, ...env }
  const valueFiles = env === null ? null : new ValueFiles(folder)
  /** Opens the main file or a table. */
  const open = async (each: string, schema: FileSchema) => {
    const isMain = schema === gatewayFile.schema
    const source = await readSource(each, undefined, isMain ? NO_CONFIGURATION : undefined)
    const comments = 'text' in source ? [acceptedWarnings(display(each), source.text, !isMain)] : []
    const isNeeded = env === null && isMain ? decidesRequests : null
    const opened = openDocument(display(each), source, schema, variables, folder, isNeeded, valueFiles)
    return { ...opened, comments }
  }
  const before = await signatureOf([path])
  const { document, root, comments } = await open(path, gatewayFile.schema)
  const pemFiles = filesIn(document.root, gatewayFile.schema).map((each) => resolve(folder, each))
  const beforePem = await signatureOf(pemFiles)
  const settings = buildSettings(root)
  const { upstreams, tenants, limits } = settings
  const context: RouteContext = {
    upstreams: new Set(upstreams.keys()),
    tenants: new Set(tenants.keys()),
    signIn: new Set([...tenants.values()].filter(({ oidc }) => oidc !== null).map(({ id }) => id)),
    maxBody: limits.maxBody,
    passAuthorization: new Set(
      [...upstreams.values()].filter((each) => each.passAuthorization).map(({ name }) => name),
    ),
    methods: methodsOf(settings),
    rateLimits: settings.rateLimits,
  }
  const { issuers, tokenIssuers } = settings.sources
  const { proxies, faults: ofProxies } = readProviderProxies(variables, [
    ...issuers.values(),
    ...[...tokenIssuers.values()].flat(),
  ])
  const beginning = () => ({ file: display(path), line: 1, column: 1 })
  const extra = extraAuthoritiesFault(env ?? {}, Date.now())
  const ofVariables = extra === null ? [] : [{ place: beginning(), message: extra }]
  const openTelemetry = readOpenTelemetry(variables)
  const ofTelemetry = openTelemetry.warnings.map((message): Warning => ({
    code: 'telemetry_variable',
    place: beginning(),
    message,
  }))
  return {
    file,
    folder,
    root,
    document,
    comments,
    settings,
    context,
    open,
    /** The values of the configuration that are from the environment alone. */
    surroundings: { openTelemetry, providerProxies: proxies },
    /** The faults of the environment, and after those of the files. */
    faults: { environment: [...envFile.faults, ...ofVariables], proxies: ofProxies },
    /** The warnings about the files themselves, and about the environment. */
    warnings: { files: envFile.warnings, environment: ofTelemetry },
    /** Called last: values of tables name files, too. */
    signature: () =>
      [envFile.signature, before, beforePem, valueFiles?.signature ?? ''].reduce(joinSignatures),
    files: () => [path, envFile.path, ...pemFiles, ...(valueFiles?.paths ?? [])],
  }
}

/** The tables of a configuration, read from files or from the store. */
interface ReadTables {
  readonly documents: readonly Document[]
  readonly comments: readonly AcceptedWarnings[]
  readonly active: readonly BuiltTable[]
  /** Null: there are no candidate tables. */
  readonly candidate: readonly BuiltTable[] | null
  /** The rate limits that its routes name. */
  readonly rateLimits: Config['rateLimits']
  /** Absolute paths and globs, and the state of the files before they were read. */
  readonly files: readonly string[]
  readonly signature: string
}

/** Reads the tables from the files that the main file names. Tables in the store are left out. */
async function readTables({ root, folder, open, context }: MainFile): Promise<ReadTables> {
  const active = await findRouteTables(root, folder)
  const candidate = root.has('shadow') ? await findRouteTables(root.section('shadow'), folder) : null
  const paths = [...active.paths, ...(candidate?.paths ?? [])]
  const signature = await signatureOf(paths)
  const documents: Document[] = []
  const comments: AcceptedWarnings[] = []
  // A file may be in both lists: it is read once.
  const tables = new Map<string, BuiltTable>()
  for (const [real, path] of await uniqueFiles(paths)) {
    const opened = await open(path, routesFile.schema)
    documents.push(opened.document)
    comments.push(...opened.comments)
    tables.set(real, buildRoutes(opened.document, opened.root, context))
  }
  const tablesIn = async (paths: readonly string[]) =>
    [...(await uniqueFiles(paths)).keys()].flatMap((real) => tables.get(real) ?? [])
  return {
    documents,
    comments,
    active: await tablesIn(active.paths),
    candidate: candidate === null ? null : await tablesIn(candidate.paths),
    rateLimits: context.rateLimits,
    files: [...active.patterns, ...(candidate?.patterns ?? [])],
    signature,
  }
}

function assemble(main: MainFile, tables: ReadTables, set: ActiveTables = NO_TABLES) {
  const { settings } = main
  const { upstreams, api } = settings
  const comments = [...main.comments, ...tables.comments]
  const documents = [main.document, ...tables.documents]
  const accepts = (warning: Acceptable) => comments.some((each) => each.accepts(warning))
  const entries: readonly RouteEntry[] = tables.active.flatMap((table) => table.entries)
  const shadowEntries = tables.candidate?.flatMap((table) => table.entries) ?? null
  const inComments = comments.flatMap((each) => each.faults)
  const inDocuments = documents.flatMap((document) => document.faults)
  const { environment, proxies } = main.faults
  const faults = sortFaults([...environment, ...inDocuments, ...inComments, ...proxies])
  const ofHosts = distinctFaults([tables.active, tables.candidate ?? []].flatMap(hostWarnings))
  const inFiles = [...documents.flatMap((document) => document.warnings), ...ofHosts].filter(
    (each) => !accepts(each),
  )
  const signature = joinSignatures(main.signature(), tables.signature)
  const files = Object.freeze([...main.files(), ...tables.files])
  const config: Config | null =
    faults.length > 0
      ? null
      : Object.freeze({
          ...settings,
          ...main.surroundings,
          rateLimits: tables.rateLimits,
          tableSet: Object.freeze({ version: set.version, digest: set.digest }),
          file: main.file,
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
    warnings: [...main.warnings.files, ...main.warnings.environment, ...inFiles],
    /** The warnings about the files themselves. */
    fileWarnings: main.warnings.files,
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
    /** What tables of the store are built with. */
    tablesInput: { context: main.context, upstreams, api, methods: settings.methods },
    /** {@link withTables} for tables that are built and have no faults. */
    withBuilt: ({ entries: routes, hash, rateLimits }: BuiltTables, set: TableSetId): Config => {
      if (config === null) throw new ConfigError(faults, files, signature)
      const tableSet = Object.freeze({ version: set.version, digest: set.digest })
      return Object.freeze({ ...config, routes: Object.freeze(routes), hash, rateLimits, tableSet })
    },
    /**
     * The same main file with tables of the store, which take the place of those in files.
     *
     * @returns what loading returns
     */
    withTables: (stored: ActiveTables) =>
      assemble(main, { ...tables, ...buildStored(stored, main.context) }, stored),
  }
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
