/** `seatgate import`: makes a route table from the description of a service, and updates it. */

import { existsSync } from 'node:fs'
import { access, readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isOwnPermission } from '../../seats-admin/model/permission.ts'
import { acceptanceOf, acceptedEntries, type Surroundings } from '../access/openapi/acceptance.ts'
import { type Description, type Place, readDescription, SyntaxFault } from '../access/openapi/description.ts'
import {
  DEFAULT_TEMPLATE,
  entriesOf,
  type ImportedEntry,
  templateFault,
} from '../access/openapi/operation-entries.ts'
import {
  type Described,
  NotADescription,
  readOperations,
  type Remark,
  remarkName,
} from '../access/openapi/operations.ts'
import { type Drift, keyOf, OpenApiTable, tableText } from '../access/openapi/table-text.ts'
import { ConfigError, formatFault } from '../config/faults.ts'
import { fileFault, writeFault } from '../config/file-fault.ts'
import { loadConfigWithFaults, type LoadResult } from '../config/load.ts'
import { methodsOf } from '../config/methods.ts'
import { upstreamNameFault } from '../config/upstreams.ts'
import { builtInPaths } from '../composition.ts'
import { printable } from '../telemetry/readable.ts'
import { CONFIG, UsageError } from './arguments.ts'
import { CommandFailed, defineCommand } from './command.ts'
import { importMcp } from './import-mcp.ts'

const DIFFERENT = 3

const CROSSINGS = {
  code: 'crossing_entries',
  reason:
    'Paths of the description cross. A concrete segment comes before a parameter, as OpenAPI orders paths.',
}

export const importCommand = defineCommand({
  name: 'import',
  summary:
    'Creates a route table from an OpenAPI (3.0 to 3.2) or Swagger 2 description, in YAML or JSON, or from the lists of an MCP server.',
  details:
    'An operation without a credential (`security: []`) becomes public and is marked for review. `x-seatgate-permission` in the description takes precedence over the template. Anything that a table cannot express is left out and listed with its position. `import mcp` takes the URL of a server, or a file with results of tools/list, prompts/list and resources/list.',
  positionals: [
    { name: 'FORMAT', description: 'openapi or mcp', choices: ['openapi', 'mcp'] },
    { name: 'FILE', description: 'the description; with mcp, also the URL of the server', completes: 'file' },
  ],
  options: {
    upstream: { value: 'U', description: 'the upstream of the table', required: true },
    out: {
      value: 'F',
      description: 'the file for the table; by default, standard output',
      completes: 'file',
    },
    permission: {
      value: 'TEMPLATE',
      description: 'template for permissions, with {resource}, {verb}, {tag} and {operationId}',
      default: DEFAULT_TEMPLATE,
    },
    update: {
      description:
        'adds missing entries to the file, sets the permissions that the description fixes, and keeps everything else',
    },
    prune: { description: 'with --update: removes entries that have no operation in the description' },
    config: {
      ...CONFIG,
      description:
        "the configuration, which determines the paths of the gateway's own endpoints; it does not have to exist",
    },
    check: { description: 'only compares the file with the description' },
    resource: { value: 'URL', description: 'with mcp: the URL of the server for clients' },
    'authorization-server': {
      value: 'URL',
      description: 'with mcp: issuers where clients get tokens',
      multiple: true,
    },
    strict: {
      description: 'exits with code 3 if something in the description is left out or needs review',
    },
  },
  exits: {
    0: 'done; with --check: each imported operation has its entry, and each entry its operation',
    1: 'the description cannot be read, or the file already exists',
    3: 'with --check: the two differ; with --strict: something is left out or needs review',
  },
  example: 'seatgate import openapi api.yaml --upstream orders --out routes/orders.yaml',
  run: async ({ values, positionals }, terminal) => {
    const [format, file = ''] = positionals
    const { upstream, out, permission: template } = values
    const fault = templateFault(template)
    if (fault !== null) throw new UsageError(`--permission "${template}" ${fault}`)
    const nameFault = upstreamNameFault(upstream)
    if (nameFault !== null) throw new UsageError(`--upstream "${upstream}": ${nameFault}`)
    if (format === 'mcp') {
      if (values.update || values.check || values.prune)
        throw new UsageError('--update, --prune and --check are for openapi')
      const { resource, 'authorization-server': authorizationServers = [] } = values
      const isStrict = values.strict === true
      return importMcp(file, { upstream, out, resource, authorizationServers, isStrict }, terminal)
    }
    if (values.resource !== undefined || values['authorization-server'] !== undefined)
      throw new UsageError('--resource and --authorization-server are for mcp')
    if (out === undefined && (values.update || values.check))
      throw new UsageError(`--${values.check ? 'check' : 'update'} needs --out`)
    if (values.prune && !values.update) throw new UsageError('--prune needs --update')
    if (values.update && values.check) throw new UsageError('--update and --check exclude each other')
    const { described, placeOf } = describedIn(file, await textOf(file))
    const { entries: imported, remarks } = entriesOf(described, template, upstream)
    const surroundings = await surroundingsOf(values.config, upstream, out)
    const isThere = out !== undefined && (values.check === true || (await exists(out)))
    if (isThere && !values.update && !values.check)
      throw new CommandFailed(`${out} exists already: --update adds to it what is missing`)
    const table = isThere ? await tableIn(out) : null
    const head = { source: file, title: described.title, upstream }
    const name = out ?? 'the table'
    const textWith = (some: readonly ImportedEntry[]) =>
      table?.updated(some, { prune: values.prune === true }) ?? tableText(head, some)
    const accepted = acceptedEntries(name, imported, table, textWith, surroundings)
    const { entries } = accepted
    const warnings = accepted.warnings
      .filter(({ code }) => code === 'builtin_permission')
      .map(({ code, place, message }) => formatFault({ place, message: `warning: ${message} [${code}]` }))
      .map(printable)
    const lines = remarkLines(file, [...remarks, ...accepted.remarks], placeOf)
    for (const line of [...lines, ...warnings]) terminal.printError(line)
    const added = table?.drift(entries).missing ?? entries
    const renamed = added.filter((each) => !each.isFixed && isNamedApart(each.permission, upstream))
    if (renamed.length > 0) terminal.printError(renamedNote(file, upstream, renamed.length))
    const done = values.strict && lines.length + warnings.length > 0 ? DIFFERENT : 0
    const alone = { ...surroundings, entries: [] }
    const isCrossing =
      table === null &&
      acceptanceOf(name, textWith(entries), alone).warnings.some(({ code }) => code === 'crossing_entries')
    const text = isCrossing ? tableText(head, entries, CROSSINGS) : textWith(entries)
    if (out === undefined) {
      await terminal.print(text.trimEnd())
      return done
    }
    const drift = table === null ? [] : driftLines(table, entries, out, values.prune === true)
    if (values.check) {
      if (drift.length > 0) await terminal.print(drift.join('\n'))
      else await terminal.print(`${out}: ${completeness(entries.length, lines.length)}`)
      return drift.length > 0 ? DIFFERENT : done
    }
    await write(out, text, table === null)
    const result = table === null ? `${entries.length} entries` : 'updated'
    await terminal.print([...drift, `${out}: ${result}`].join('\n'))
    return done
  },
})

function isNamedApart(permission: string, upstream: string): boolean {
  return permission.startsWith(`${upstream}.`) && isOwnPermission(permission.slice(upstream.length + 1))
}

function renamedNote(file: string, upstream: string, count: number): string {
  const which = count === 1 ? '1 permission has' : `${count} permissions have`
  return `${file}: ${which} "${upstream}." before the resource, as the same name without it opens the gateway's own endpoints [builtin_permission]`
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (cause: NodeJS.ErrnoException) => cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR',
  )
}

async function write(path: string, text: string, isNew: boolean): Promise<void> {
  await writeFile(path, text, { flag: isNew ? 'wx' : 'w' }).catch((cause: unknown) => {
    throw new CommandFailed(`${path} ${writeFault(cause)}`)
  })
}

async function tableIn(path: string): Promise<OpenApiTable> {
  const text = await textOf(path)
  try {
    return new OpenApiTable(text)
  } catch (cause) {
    throw new CommandFailed(`${path} ${(cause as Error).message}`)
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new CommandFailed(`${path} ${fileFault(cause)}`)
  }
}

function describedIn(file: string, text: string): { described: Described; placeOf: Description['placeOf'] } {
  try {
    const { value, twice, placeOf } = readDescription(text)
    return { described: readOperations(value, twice), placeOf }
  } catch (cause) {
    if (cause instanceof SyntaxFault)
      throw new ConfigError([{ place: { file, ...cause.place }, message: cause.message }])
    if (!(cause instanceof NotADescription)) throw cause
    throw new CommandFailed(`${file} is no OpenAPI description: ${cause.message}`)
  }
}

/** How complete the table is. It does not claim completeness if something was left out. */
function completeness(entries: number, remarks: number): string {
  if (remarks === 0) return `each of ${entries} operations has its entry`
  const lines = remarks === 1 ? 'the line above says' : `the ${remarks} lines above say`
  return `each of ${entries} operations that were taken has its entry; ${lines} what of the description is not in the table`
}

function driftLines(
  table: OpenApiTable,
  entries: readonly ImportedEntry[],
  out: string,
  prune: boolean,
): string[] {
  const { missing, outside, surplus, other }: Drift = table.drift(entries)
  const pruned = new Set(prune ? table.prunable(entries) : [])
  const outcome = (key: string) => {
    if (!prune) return ''
    return pruned.has(key) ? ': taken out' : ': kept, as it has an anchor (&) that another entry may use'
  }
  return [
    ...missing.map((entry) => `${out}: no entry for ${keyOf(entry)} (${entry.permission})`),
    ...outside.map((entry) => `${out}: ${keyOf(entry)} is not behind the table's prefix`),
    ...surplus.map((key) => `${out}: the description has no ${key}${outcome(key)}`),
    ...other.map(
      ({ entry, written }) =>
        `${out}: ${keyOf(entry)} requires ${written}, the description says ${entry.permission}`,
    ),
  ].map(printable)
}

/** The remarks in the order of the file. */
function remarkLines(
  file: string,
  remarks: readonly Remark[],
  placeOf: (at: readonly string[]) => Place,
): string[] {
  const placed = remarks.map((remark) => ({ remark, place: placeOf(remark.at) }))
  const sorted = placed.toSorted(
    ({ place: one }, { place: other }) => one.line - other.line || one.column - other.column,
  )
  const lines = sorted.map(({ remark, place: { line, column } }) =>
    printable(`${file}:${line}:${column}: ${remarkName(remark)}: ${remark.message}`),
  )
  return [...new Set(lines)]
}

type Loaded = Pick<LoadResult, 'config' | 'entries' | 'shadowEntries' | 'upstreams' | 'api' | 'files'>

/** The defaults without a configuration: the gateway's endpoints are at their usual places. */
const NOTHING: Loaded = {
  config: null,
  entries: [],
  shadowEntries: null,
  files: [],
  upstreams: new Map(),
  api: { hosts: null, prefix: '', authPrefix: '', console: false, scim: false },
}

/**
 * The parts of the configuration that matter for a new table.
 *
 * @param file the configuration
 * @param upstream the upstream of the table
 * @param out the file of the table; undefined: standard output
 * @throws ConfigError if the configuration does not say where the gateway's endpoints are
 */
async function surroundingsOf(
  file: string,
  upstream: string,
  out: string | undefined,
): Promise<Surroundings> {
  const { config, entries, shadowEntries, upstreams, api, files } = await loaded(file)
  const own = out === undefined ? null : resolve(out)
  // Entries of other tables count if this table is one of them. A candidate table may repeat their entries.
  const isActive =
    own !== null && shadowEntries === null && files.some((each) => dirname(each) === dirname(own))
  const tenants = [...(config?.tenants.values() ?? [])]
  return {
    context: {
      upstreams: new Set([...upstreams.keys(), upstream]),
      tenants: new Set(tenants.map(({ id }) => id)),
      signIn: new Set(tenants.filter(({ oidc }) => oidc !== null).map(({ id }) => id)),
      maxBody: config?.limits.maxBody ?? 0,
      passAuthorization: new Set(),
      methods: methodsOf(config ?? { methods: [] }),
      rateLimits: config?.rateLimits ?? new Map(),
    },
    entries: isActive ? entries.filter(({ place }) => resolve(place.file) !== own) : [],
    upstreams,
    builtIn: builtInPaths(api),
    apiHosts: api.hosts,
  }
}

async function loaded(file: string): Promise<Loaded> {
  if (file === CONFIG.default && !existsSync(file)) return NOTHING
  const config = await loadConfigWithFaults(file, null)
  // The list of tables may name the one that is created here. `check` reports other faults.
  const isUnread = config.files.length <= 2 && config.config === null && config.upstreams.size === 0
  if (isUnread) throw new ConfigError(config.faults)
  return config
}
