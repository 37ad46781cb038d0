/** `seatgate init`: writes the files of a first configuration. */

import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isTenantId } from '../../seats-admin/model/tenant.ts'
import { origin } from '../config/addresses.ts'
import { InvalidValue, quote } from '../config/invalid-value.ts'
import { CONFIG, TENANT, UsageError } from './arguments.ts'
import { CommandFailed, defineCommand, messageOf } from './command.ts'
import { filesOf, type NewFile } from './init-files.ts'
import { fold } from './screen.ts'
import { pathWord, programName } from './shell.ts'

const options = {
  tenant: { ...TENANT, description: 'id of the tenant', default: 'acme' },
  upstream: {
    value: 'URL',
    description: 'scheme, host and port of the service behind the gateway',
    default: 'http://127.0.0.1:9001',
  },
} as const

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
  options,
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
  const url = origin(upstream)
  if (url instanceof InvalidValue)
    throw new UsageError(`--upstream ${shown(upstream)} ${url.message}${url.correction}`)
}

/** A URL may hold a password. */
function shown(url: string): string {
  return url.includes('@') ? 'URL' : quote(url)
}

/** Only a package within the folder stays where it is: one of npx is in a cache. */
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

/** @throws CommandFailed that names every file that is there, or those that a fault leaves behind */
async function writeNew(folder: string, files: readonly NewFile[]): Promise<void> {
  await refusePresent(files.map(({ name }) => join(folder, name)))
  const written: string[] = []
  for (const { name, text, mode } of files) {
    const path = join(folder, name)
    try {
      await makeFolder(dirname(path))
      // Never over a file that has appeared since.
      await writeFile(path, text, { flag: 'wx', mode, flush: true })
      written.push(path)
    } catch (cause) {
      const begun = codeOf(cause) !== 'EEXIST' && (await isPresent(path).catch(() => false))
      const left = begun ? [...written, `${path} (incomplete)`] : written
      throw new CommandFailed(`${path} cannot be written: ${messageOf(cause)}. ${remains(left)}`)
    }
  }
}

/** Below /proc, `recursive` of Node.js 26 tries forever: that file system answers ENOENT to each mkdir. */
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

/** Also true of a symbolic link that leads nowhere. */
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
