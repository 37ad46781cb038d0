/**
 * Loads the configuration: the main file and every route table that it names. Reports all faults at once. Other modules
 * get a Config only from here.
 */

import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { buildSettings } from './build.ts'
import { InvalidValue } from './invalid-value.ts'
import type { Config, RouteEntry, UpstreamConfig } from './config.ts'
import type { Document } from './positioned-document.ts'
import { noEnvFile, readEnvFile } from './env-file.ts'
import { type AcceptedWarnings, acceptedWarnings } from './accepted-warnings.ts'
import { ConfigError, type Fault, sortFaults, type Warning } from './faults.ts'
import { joinSignatures, listFiles, signatureOf } from './watch.ts'
import { methodsOf } from './methods.ts'
import { parse, parseAnywhere } from './yaml-parser.ts'
import { buildRoutes } from './routes.ts'
import { type Schema, type SchemaName, schemas } from './schema.ts'
import { Section } from './section.ts'
import { readSource } from './read-file.ts'
import { validate } from './validate.ts'

/** Also with faults the readable entries are returned, so that the router's faults can be reported at the same time. */
export interface LoadResult {
  /** Null when there are faults. */
  readonly config: Config | null
  readonly faults: readonly Fault[]
  /** Without those of the tables, and without accepted ones. */
  readonly warnings: readonly Warning[]
  /** About the files themselves. */
  readonly fileWarnings: readonly Warning[]
  /** Whether a comment in a file accepts the warning. */
  readonly accepts: (warning: Warning) => boolean
  /** For checks only when there are faults: defaults replace faulty settings. */
  readonly entries: readonly RouteEntry[]
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>
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
  const accepts = (warning: Warning) => comments.some((each) => each.accepts(warning))
  const variables = { ...envFile.variables, ...env }
  const open = async (each: string, kind: SchemaName) => {
    const source = await readSource(each)
    if ('text' in source) comments.push(acceptedWarnings(display(each), source.text))
    if (env === null && kind === 'gateway')
      return opened(parseAnywhere(display(each), source, decidesRequests), kind)
    return opened(parse(display(each), source, variables), kind)
  }
  const before = await signatureOf([path])
  const main = await open(path, 'gateway')
  if (main.root === null) {
    const faults = [...envFile.faults, ...main.document.faults]
    const files = [path, envFile.path]
    const nothing = { config: null, entries: [], upstreams: new Map(), warnings: fileWarnings }
    return { ...nothing, faults, fileWarnings, accepts, files }
  }
  const settings = buildSettings(main.root, folder)
  const { paths, patterns } = await findRouteTables(main.root, folder)
  const signature = [envFile.signature, before, await signatureOf(paths)].reduce(joinSignatures)
  const { upstreams, tenants, limits } = settings
  const tables: OpenedDocument[] = []
  for (const each of await uniqueFiles(paths)) tables.push(await open(each, 'routes'))
  const context = {
    upstreams: new Set(upstreams.keys()),
    signIn: new Set([...tenants.values()].filter(({ oidc }) => oidc !== null).map(({ id }) => id)),
    maxBody: limits.maxBody,
    methods: methodsOf(settings),
  }
  const entries = tables.flatMap(({ document, root }) =>
    root === null ? [] : buildRoutes(document, root, context),
  )
  const documents = [main, ...tables].map(({ document }) => document)
  const inComments = comments.flatMap((each) => each.faults)
  const inDocuments = documents.flatMap((document) => document.faults)
  const faults = sortFaults([...envFile.faults, ...inDocuments, ...inComments])
  const inFiles = documents.flatMap((document) => document.warnings).filter((each) => !accepts(each))
  const warnings = [...fileWarnings, ...inFiles]
  const files = Object.freeze([path, envFile.path, ...patterns])
  const config =
    faults.length > 0
      ? null
      : Object.freeze({ ...settings, file, files, signature, routes: Object.freeze(entries) })
  return { config, faults, warnings, fileWarnings, accepts, entries, upstreams, files }
}

interface OpenedDocument {
  readonly document: Document
  /** Null when the file is not a readable YAML map. */
  readonly root: Section | null
}

/** Whether the answers to requests depend on the setting: then it can't be left out. */
function decidesRequests([first, second, third]: readonly string[]): boolean {
  if (first === 'routes' || first === 'methods') return true
  if (first === 'limits') return second === 'max_body'
  return first === 'upstreams' && third?.startsWith('allow_') === true
}

function opened(document: Document, kind: SchemaName): OpenedDocument {
  if (document.root === null) return { document, root: null }
  validate(document, document.root, kind)
  return { document, root: new Section(document, document.root, schemas[kind] as Schema) }
}

/** Relative to the working directory when the file is inside it, otherwise absolute. */
function displayPath(path: string): string {
  const below = relative(process.cwd(), path)
  return below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? path : below
}

/** The paths of the route tables, and the absolute paths and globs to watch. */
async function findRouteTables(root: Section, folder: string) {
  const matched = new Map<string, readonly string[]>()
  for (const text of root.texts('routes', (each) => each)) matched.set(text, await listFiles(folder, [text]))
  const matching = root.texts('routes', (text) =>
    matched.get(text)?.length === 0 ? new InvalidValue('matches no file') : text,
  )
  return {
    paths: [...new Set(matching.flatMap((text) => matched.get(text) ?? []))],
    patterns: [...matched].map(([text, paths]) => absolutePattern(folder, text, paths)),
  }
}

/** Replaces glob characters in the folder's own name by `?`, which matches them too. */
function absolutePattern(folder: string, text: string, paths: readonly string[]): string {
  const path = resolve(folder, text)
  if (paths.includes(path) || isAbsolute(text)) return path
  return `${folder.replace(/[*?[\]{}()!+@\\]/g, '?')}/${text}`
}

/** Without paths that lead to the same file by a symbolic link; the first path wins. */
async function uniqueFiles(paths: readonly string[]): Promise<string[]> {
  const byRealPath = new Map<string, string>()
  for (const path of paths.toReversed()) byRealPath.set(await realpath(path).catch(() => path), path)
  return [...byRealPath.values()].reverse()
}
