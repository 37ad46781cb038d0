/** The options of commands that talk to a gateway, and the gateway that they name. */

import { readFileSync } from 'node:fs'
import { isSpaceId } from '../../../seats-admin/model/space.ts'
import { isLoopback } from '../../config/addresses.ts'
import { InvalidValue } from '../../config/invalid-value.ts'
import { readPemFile } from '../../config/pem.ts'
import { durationWithin } from '../../config/units.ts'
import { type Arguments, type Option, UsageError } from '../arguments.ts'
import { CommandFailed, type Terminal } from '../command.ts'
import { DEFAULT_ADMIN_SPACE, Gateway, type GatewayOptions } from './gateway-client.ts'

export const REMOTE = {
  url: { value: 'URL', description: 'address of the gateway; by default, the value of SEATGATE_URL' },
  'api-key': {
    value: 'KEY',
    description: 'an API key, or - to read it from standard input; by default, the value of SEATGATE_API_KEY',
  },
  space: { value: 'S', description: 'the space to act in; by default, the admin space of the tenant' },
  ca: {
    value: 'FILE',
    description: 'trusted certificates (PEM), used instead of those of the system',
    completes: 'file',
  },
  timeout: {
    value: 'TIME',
    description: 'how long to wait for each answer from the gateway',
    default: '30s',
  },
} as const satisfies Readonly<Record<string, Option>>

export type RemoteValues = Arguments<typeof REMOTE>['values']

/** Runs the work on the gateway, and closes its connections. @throws UsageError, CommandFailed */
export async function withGateway<R>(
  values: RemoteValues,
  terminal: Terminal,
  work: (gateway: Gateway) => Promise<R>,
): Promise<R> {
  const url = urlOf(values.url, terminal.env)
  const { space } = values
  requireSpaceId('--space', space)
  const options = await sharedOptionsOf(values, terminal)
  noteIfPlain(url, terminal)
  const gateway = new Gateway({ url, ...options, space: space ?? DEFAULT_ADMIN_SPACE })
  try {
    if (space === undefined) await gateway.enterAdminSpace()
    return await work(gateway)
  } finally {
    await gateway.close()
  }
}

/** The options besides the address and the space. The key is read last. @throws UsageError, CommandFailed */
export async function sharedOptionsOf(
  values: Omit<RemoteValues, 'url' | 'space'>,
  terminal: Terminal,
): Promise<Omit<GatewayOptions, 'url' | 'space'>> {
  const timeout = durationWithin('100ms', '10m')(values.timeout)
  if (timeout instanceof InvalidValue) throw new UsageError(`--timeout ${timeout.message}`)
  const ca = values.ca === undefined ? undefined : certificates(values.ca)
  return { timeout, ca, key: await keyOf(values['api-key'], terminal) }
}

/** Checks a space id. @throws UsageError */
export function requireSpaceId(option: string, text: string | undefined): void {
  if (text !== undefined && !isSpaceId(text))
    throw new UsageError(`${option} is not a space id: letters, digits and . _ ~ -`)
}

/** Prints a note if others can read the API key on its way. */
export function noteIfPlain(url: URL, terminal: Terminal): void {
  if (url.protocol === 'http:' && !isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
    terminal.printError(`note: ${url.origin} is not https: the API key can be read on the way`)
}

/**
 * The address of the gateway.
 *
 * @param option undefined: SEATGATE_URL is used
 * @throws UsageError
 */
export function urlOf(option: string | undefined, env: NodeJS.ProcessEnv): URL {
  const [name, text] = option === undefined ? ['SEATGATE_URL', env['SEATGATE_URL']] : ['--url', option]
  if (text === undefined || text === '')
    throw new UsageError('--url is missing: the address of the gateway, or SEATGATE_URL')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new UsageError(`${name} is not an address such as https://gateway.example.com`)
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`${name} has a user or a password: the credential is an API key`)
  return url
}

async function keyOf(option: string | undefined, terminal: Terminal): Promise<string> {
  const [name, key] =
    option === undefined
      ? ['SEATGATE_API_KEY', terminal.env['SEATGATE_API_KEY'] ?? '']
      : option === '-'
        ? ['the API key on standard input', (await terminal.readInput()).toString().trim()]
        : ['--api-key', option]
  if (key === '' && option === undefined)
    throw new UsageError('--api-key is missing: an API key, - to read it, or SEATGATE_API_KEY')
  // The message does not contain the value: even a wrong one may be a secret.
  if (!/^[\x21-\x7e]{1,1024}$/.test(key)) throw new UsageError(`${name} is not an API key`)
  return key
}

function certificates(file: string): string {
  const pem = readPemFile(file, 'authorities')
  if (pem instanceof InvalidValue) throw new CommandFailed(`${file} ${pem.message}`)
  return pem
}

/**
 * The text of a file.
 *
 * @param name of the file in messages
 * @throws CommandFailed
 */
export function textOf(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFailed(`${name} cannot be read: ${why}`)
  }
}
