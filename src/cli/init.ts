/** `seatgate init`: writes the files of a first configuration. */

import { randomBytes } from 'node:crypto'
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isTenantId } from '../../seats-admin/model/tenant.ts'
import { targetOrigin } from '../config/addresses.ts'
import { InvalidValue, quote } from '../config/invalid-value.ts'
import { CONFIG, TENANT, UsageError } from './arguments.ts'
import { CommandFailed, defineCommand, messageOf } from './command.ts'
import { fold } from './screen.ts'
import { pathWord, programName } from './shell.ts'

export const init = defineCommand({
  name: 'init',
  summary: 'Creates a first configuration: gateway.config.yaml, routes/example.yaml, .env and .gitignore.',
  details:
    'The secret in .env is random. Existing files are never overwritten. The output ends with the commands to run next.',
  positionals: [
    {
      name: 'DIR',
      description: 'the folder; it is created if necessary',
      default: '.',
      completes: 'folder',
    },
  ],
  options: {
    tenant: { ...TENANT, description: 'id of the tenant', default: 'acme' },
    upstream: {
      value: 'URL',
      description: 'scheme, host and port of the service behind the gateway',
      default: 'http://127.0.0.1:9001',
    },
  },
  exits: {
    0: 'the files were written',
    1: 'one of the files already exists, so none was written, or they cannot be written',
  },
  example: 'seatgate init my --tenant acme --upstream http://127.0.0.1:9001',
  run: async ({ values: { tenant, upstream }, positionals: [folder = ''] }, terminal) => {
    checkValues(tenant, upstream)
    const files = filesOf({ tenant, upstream, schemas: schemasWithin(folder) })
    await writeNew(folder, files)
    await terminal.print(report(folder, tenant, files, programName(terminal.env)))
  },
})

function checkValues(tenant: string, upstream: string): void {
  if (!isTenantId(tenant))
    throw new UsageError(
      `--tenant ${quote(tenant)} is not 1 to 63 lower-case letters, digits and -, beginning with a letter or digit`,
    )
  const url = targetOrigin(upstream)
  if (url instanceof InvalidValue)
    throw new UsageError(`--upstream ${shown(upstream)} ${url.message}${url.correction}`)
}

/** A URL without its password, if it has one. */
function shown(url: string): string {
  return url.includes('@') ? 'URL' : quote(url)
}

/** The path of the schemas, if the package is inside the folder: the cache of npx does not stay. */
function schemasWithin(folder: string): string | null {
  const path = relative(resolve(folder), fileURLToPath(new URL('../config', import.meta.url)))
  return path.split(sep)[0] === 'node_modules' ? path.replaceAll(sep, '/') : null
}

function report(folder: string, tenant: string, files: readonly NewFile[], program: string): string {
  const file = join(folder, CONFIG.default)
  const config = file === CONFIG.default ? '' : ` --config ${pathWord(file)}`
  return [
    'Written:',
    ...files.map(({ name }) => `  ${join(folder, name)}`),
    '',
    fold('Next, check the configuration, create the first API key, and start the gateway:'),
    `  ${program} check${config}`,
    `  ${program} bootstrap --tenant ${tenant}${config}`,
    `  ${program} start${config}`,
  ].join('\n')
}

/** Writes the files. @throws CommandFailed that names the files that exist, or those that a failure leaves */
async function writeNew(folder: string, files: readonly NewFile[]): Promise<void> {
  await refusePresent(files.map(({ name }) => join(folder, name)))
  const written: string[] = []
  for (const { name, text, mode } of files) {
    const path = join(folder, name)
    try {
      await makeFolder(dirname(path))
      // An existing file is never overwritten, even if it appeared a moment ago.
      await writeFile(path, text, { flag: 'wx', mode, flush: true })
      written.push(path)
    } catch (cause) {
      const begun = codeOf(cause) !== 'EEXIST' && (await isPresent(path).catch(() => false))
      const left = begun ? [...written, `${path} (incomplete)`] : written
      throw new CommandFailed(`${path} cannot be written: ${messageOf(cause)}. ${remains(left)}`)
    }
  }
}

/** Creates a folder with parents. `recursive` of Node.js 26 never ends below /proc, which answers ENOENT. */
async function makeFolder(path: string): Promise<void> {
  if (await isPresent(path)) return
  await makeFolder(dirname(path))
  await mkdir(path).catch((cause: unknown) => {
    if (codeOf(cause) !== 'EEXIST') throw cause
  })
}

async function refusePresent(paths: readonly string[]): Promise<void> {
  const present: string[] = []
  for (const path of paths) if (await isPresent(path)) present.push(path)
  if (present.length === 0) return
  const these = present.length === 1 ? 'this file is' : 'these files are'
  throw new CommandFailed(`nothing is written, because ${these} there already: ${present.join(', ')}`)
}

/** Whether something is at the path, even a symbolic link to nothing. */
async function isPresent(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return false
    throw new CommandFailed(`nothing is written, because ${path} cannot be looked up: ${messageOf(cause)}`)
  }
}

function remains(left: readonly string[]): string {
  return left.length === 0
    ? 'No file was written.'
    : `These files were written; remove them before you try again: ${left.join(', ')}`
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : null
}

interface NewProject {
  readonly tenant: string
  /** The origin of the service, as the user wrote it. */
  readonly upstream: string
  /** The path of the JSON Schemas, relative to the configuration; null if they have no lasting place. */
  readonly schemas: string | null
}

interface NewFile {
  readonly name: string
  readonly text: string
  readonly mode: number
}

/** The mode of a file that others may read; the umask restricts it. */
const READABLE = 0o666
const PRIVATE = 0o600

/** The files in the order in which they are written: git ignores the secret before the secret is written. */
export function filesOf(project: NewProject): NewFile[] {
  return [
    { name: '.gitignore', text: GIT_IGNORE, mode: READABLE },
    { name: '.env', text: environment(project), mode: PRIVATE },
    { name: 'routes/example.yaml', text: routes(project), mode: READABLE },
    { name: 'gateway.config.yaml', text: configuration(project), mode: READABLE },
  ]
}

const GIT_IGNORE = `# Secrets, API keys, and the store.
.env
*.key
data/
`

function environment({ tenant }: NewProject): string {
  return `# Values of \${NAME} in gateway.config.yaml, where the environment does not set them. Never commit this file.
${variableOf(tenant)}=${randomBytes(32).toString('base64url')}
`
}

function configuration(project: NewProject): string {
  const { tenant, upstream } = project
  return `${schemaLine(project, 'gateway')}# The configuration of the gateway. \${NAME} comes from the environment, or else from .env beside this file.
# "seatgate check" finds its faults. A running gateway applies a change without faults at once, and no other.

listen: 127.0.0.1:8080 # the public listener; 0.0.0.0:8080 accepts connections from other machines
ops: 127.0.0.1:9090 # /livez /readyz /metrics: asks for no credential, so keep it on an inner network
store: sqlite:./data/seatgate.db # Seats and API keys; relative to this file
drain: 30s # time that requests in flight may take after SIGTERM

tenants: # the customers of your platform, by id: nothing crosses tenants
  ${keyOf(tenant)}:
    admin_space: admin # the permissions held in this space apply to every Seat and API key of the tenant
    token: # bearer tokens
      secrets: ["\${${variableOf(tenant)}}"] # the first signs, all verify; 32 bytes or more
      lifetime: 1h # how long a token is valid

upstreams: # the services behind the gateway, by the names that route tables use
  example:
    targets: ["${upstream}"] # scheme, host and port of each of its instances

routes: [routes/*.yaml] # the route tables, one a service
`
}

function routes(project: NewProject): string {
  return `${schemaLine(project, 'routes')}# METHOD /path: the permission that a request needs in its space. A request that no entry matches is not forwarded.
# These two entries suit any service. A more specific path takes precedence, so add those of your own, such as:
#
#   GET /v1/orders: orders:list
#   DELETE /v1/orders/{id}: orders:delete # {id}: one segment
#   GET /v1/me: authenticated # any valid credential, no space needed
#   GET /docs/*: public # no credential

upstream: example # the service that the requests are forwarded to
routes:
  GET /*: example:read # GET and HEAD of every path
  ANY /*: example:write # every other method
`
}

function schemaLine({ schemas }: NewProject, name: 'gateway' | 'routes'): string {
  if (schemas === null) return ''
  const from = name === 'routes' ? '../' : './'
  return `# yaml-language-server: $schema=${from}${schemas}/${name}.schema.json\n#\n`
}

/** The id as a key of YAML, which reads `7` and `null` as other types than text. */
function keyOf(tenant: string): string {
  return /^(?:[0-9].*|null|true|false)$/.test(tenant) ? `"${tenant}"` : tenant
}

/** The environment variable of a tenant. Its name cannot begin with a digit. */
function variableOf(tenant: string): string {
  const name = `${tenant.toUpperCase().replaceAll('-', '_')}_TOKEN_SECRET`
  return /^[0-9]/.test(name) ? `TENANT_${name}` : name
}
