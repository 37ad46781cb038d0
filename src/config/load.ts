/**
 * Reads the configuration: the main file and every route table it names, all faults at once. The only way in to this
 * room for those who want a Config; it alone reads files and environment.
 */

import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { buildSettings, type Settings } from './build.ts'
import { InvalidValue } from './invalid-value.ts'
import type { Config, RouteEntry, UpstreamConfig } from './config.ts'
import type { Document } from './document.ts'
import { ConfigError, type Fault, sortFaults } from './faults.ts'
import { joinSignatures, listFiles, signatureOf } from './files.ts'
import { frozenMap } from './frozen.ts'
import { methodsOf } from './methods.ts'
import { parse } from './parse.ts'
import { buildRoutes, type Known } from './routes.ts'
import { Section } from './section.ts'
import { readSource } from './source.ts'
import { validate } from './validate.ts'

/** What could be read, faults or not, so that the router's faults can be told at the same time. */
export interface Loaded {
  /** Null when there are faults. */
  readonly config: Config | null
  readonly faults: readonly Fault[]
  /** With faults: never to be served, as faulty settings of theirs were replaced. */
  readonly entries: readonly RouteEntry[]
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>
  /** What to watch for the fault to be mended. */
  readonly files: readonly string[]
}

/** @throws ConfigError with every fault of the file and of its route tables */
export async function loadConfig(file: string, env: NodeJS.ProcessEnv): Promise<Config> {
  const { config, faults, files } = await loadConfigWithFaults(file, env)
  if (config === null) throw new ConfigError(faults, files)
  return config
}

export async function loadConfigWithFaults(file: string, env: NodeJS.ProcessEnv): Promise<Loaded> {
  const path = resolve(file)
  const folder = dirname(path)
  const before = await signatureOf([path])
  const main = await open(path, env, 'gateway')
  const settings = main.root === null ? null : buildSettings(main.root, folder)
  const names = main.root === null ? null : await findTables(main.root, folder)
  const paths = names?.paths ?? []
  const signature = joinSignatures(before, await signatureOf(paths))
  const upstreams = settings?.upstreams ?? new Map<string, UpstreamConfig>()
  const tables: Opened[] = []
  for (const each of await distinct(paths)) tables.push(await open(each, env, 'routes'))
  const known = settings === null ? null : knownOf(settings)
  const entries = tables.flatMap(({ document, root }) =>
    root === null ? [] : buildRoutes(document, root, known),
  )
  const faults = sortFaults([main, ...tables].flatMap(({ document }) => document.faults))
  const files = Object.freeze([path, ...(names?.patterns ?? [])])
  const config =
    settings === null || faults.length > 0
      ? null
      : finish(settings, { file, files, signature, routes: Object.freeze(entries) })
  return { config, faults, entries, upstreams, files }
}

function knownOf({ upstreams, tenants, limits, methods }: Settings): Known {
  const signIn = [...tenants.values()].filter(({ oidc }) => oidc !== null).map(({ id }) => id)
  return {
    upstreams: new Set(upstreams.keys()),
    signIn: new Set(signIn),
    maxBody: limits.maxBody,
    methods: methodsOf({ methods }),
  }
}

function finish(settings: Settings, more: Pick<Config, 'file' | 'files' | 'signature' | 'routes'>): Config {
  return Object.freeze({
    ...more,
    ...settings,
    tenants: frozenMap(settings.tenants),
    upstreams: frozenMap(settings.upstreams),
  })
}

interface Opened {
  readonly document: Document
  /** Null when the file could not be read as a map. */
  readonly root: Section | null
}

async function open(path: string, env: NodeJS.ProcessEnv, kind: 'gateway' | 'routes'): Promise<Opened> {
  const document = parse(shown(path), await readSource(path), env)
  if (document.root === null) return { document, root: null }
  validate(document, document.root, kind)
  return { document, root: new Section(document, document.root) }
}

/** As a user in this folder would write it. */
function shown(path: string): string {
  const below = relative(process.cwd(), path)
  return below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? path : below
}

interface Tables {
  readonly paths: readonly string[]
  /** Absolute, for watching. */
  readonly patterns: readonly string[]
}

async function findTables(root: Section, folder: string): Promise<Tables> {
  const matched = new Map<string, readonly string[]>()
  for (const text of root.texts('routes', (each) => each)) matched.set(text, await listFiles(folder, [text]))
  const named = root.texts('routes', (text) =>
    matched.get(text)?.length === 0 ? new InvalidValue('matches no file') : text,
  )
  return {
    paths: [...new Set(named.flatMap((text) => matched.get(text) ?? []))],
    patterns: [...matched].map(([text, paths]) => absolutePattern(folder, text, paths)),
  }
}

/** What the folder's own name has in common with a glob's syntax, `?` matches too. */
function absolutePattern(folder: string, text: string, paths: readonly string[]): string {
  const path = resolve(folder, text)
  if (paths.includes(path) || isAbsolute(text)) return path
  return `${folder.replace(/[*?[\]{}()!+@\\]/g, '?')}/${text}`
}

/** Without those that are another's twin by a symbolic link. */
async function distinct(paths: readonly string[]): Promise<string[]> {
  const byRealPath = new Map<string, string>()
  for (const path of paths.toReversed()) byRealPath.set(await realpath(path).catch(() => path), path)
  return [...byRealPath.values()].reverse()
}
