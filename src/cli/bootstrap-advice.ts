/** What `seatgate bootstrap` prints: what the key may do, and the next steps with this configuration. */

import type { Config, RouteEntry } from '../config/config.ts'
import { isSpaceHeader, SPACE_HEADER } from '../model/space-source.ts'
import { printable } from '../telemetry/readable.ts'
import { CONFIG } from './arguments.ts'
import { fold } from './screen.ts'
import { pathWord, programName, word } from './shell.ts'

interface FirstKey {
  readonly tenant: string
  readonly space: string
  readonly seat: string
  readonly api_key_name: string
  /** The API keys in force that already hold the Seat. */
  readonly others: readonly { readonly id: string; readonly name: string }[]
  /** The text of the key; null if a file has it. */
  readonly key: string | null
  readonly file: string | null
}

export function adviceOn(created: FirstKey, config: Config, env: NodeJS.ProcessEnv): string {
  const { tenant, space, seat } = created
  return [
    fold(`Seat "${seat}" of ${tenant} holds every permission in space ${space}.`),
    ...othersOf(created, programName(env)),
    ...keyOf(created),
    fold(
      `Send it as "x-api-key", with "Space: ${space}". It manages the Seats and API keys of ${tenant}. It holds nothing in any other space: requests there are answered 403 until a Seat of the caller is granted there.`,
    ),
    '',
    ...variableOf(created),
    ...nextSteps(created, config, env),
  ].join('\n')
}

/** The most names in the list. */
const MOST = 10

/** The earlier API keys: a person who runs the command twice should know that the first key still works. */
function othersOf({ others, api_key_name: name }: FirstKey, program: string): string[] {
  if (others.length === 0) return []
  const shown = others.slice(0, MOST).map((other) => printable(`  "${other.name}" ${other.id}`))
  return [
    fold(
      `Its new API key is "${name}". Earlier API keys that hold the Seat stay valid (${program} keys revoke ID ends one):`,
    ),
    ...shown,
    ...(others.length > MOST ? [`  and ${others.length - MOST} more`] : []),
  ]
}

function keyOf({ key, file }: FirstKey): string[] {
  return key === null
    ? [fold(`Its API key is in ${file}, which only its owner may read.`), '']
    : ['Its API key, shown only this once:', '', key, '']
}

/** The commands that put the key into a variable: an argument stays in the history of the shell. */
function variableOf({ key, file }: FirstKey): string[] {
  if (key === null)
    return [
      'The next commands take the key from a variable:',
      '',
      `export ${VARIABLE}=$(cat ${pathWord(file ?? '')})`,
      '',
    ]
  return [
    fold(
      'The next commands take the key from a variable. This one waits for it: paste the key, then press Enter.',
    ),
    '',
    `read -rs ${VARIABLE} && export ${VARIABLE}`,
    '',
  ]
}

/** The variable from which the commands of this program also take the key. */
const VARIABLE = 'SEATGATE_API_KEY'

/** The Seat that the printed command creates. */
const SEAT = 'First'

function nextSteps({ tenant, space }: FirstKey, config: Config, env: NodeJS.ProcessEnv): string[] {
  const route = exampleRoute(config.routes)
  const permission = route?.requirement ?? 'example:read'
  const granted = space === 'main' ? 'first' : 'main'
  const gateway = frontOf(config.listen)
  const program = programName(env)
  const file = config.file === CONFIG.default ? '' : ` --config ${pathWord(config.file)}`
  const body = JSON.stringify({ name: SEAT, spaces: [granted], permissions: [permission] })
  const key = `-H "x-api-key: $${VARIABLE}"`
  const headers = [`Space: ${space}`, 'Content-Type: application/json'].map((each) => `-H ${word(each)}`)
  return [
    fold(
      `While the gateway runs (${program} start${file}), this creates a Seat that holds ${permission} in space ${granted}:`,
    ),
    '',
    `curl ${word(`${gateway}${config.api.prefix}/v1/seats`)} ${[key, ...headers].join(' ')} -d ${word(body)}`,
    '',
    'Then send a request with a token that names the Seat:',
    '',
    `TOKEN=$(${program} token --tenant ${tenant} --sub alice --seat ${SEAT}${file})`,
    `curl ${requestTo(route, gateway)} -H "Authorization: Bearer $TOKEN" -H ${word(`Space: ${granted}`)}`,
  ]
}

/** A route that needs a permission: preferably a GET without parameters, which is safe to try. */
function exampleRoute(routes: readonly RouteEntry[]): RouteEntry | undefined {
  const guarded = routes.filter(
    // The printed command sends the header Space.
    ({ requirement, space = SPACE_HEADER }) =>
      !['public', 'authenticated', '*'].includes(requirement) && isSpaceHeader(space),
  )
  const reads = guarded.filter(({ method }) => method === 'GET')
  return reads.find(({ path }) => !path.includes('{')) ?? reads[0] ?? guarded[0]
}

function requestTo(route: RouteEntry | undefined, gateway: string): string {
  if (route === undefined) return word(`${gateway}/`)
  const path = ((route.prefix ?? '') + route.path).replaceAll(/\{[^}]*\}/g, '1').replace(/\*$/, '')
  const method = route.method === 'GET' || route.method === 'ANY' ? '' : `-X ${route.method} `
  const host = route.hosts?.[0]?.replace(/^\*/, 'x')
  return `${method}${word(`${gateway}${path}`)}${host === undefined ? '' : ` -H ${word(`Host: ${host}`)}`}`
}

/** The first listener, as this machine reaches it. */
function frontOf([listener]: Config['listen']): string {
  if (listener === undefined) return 'http://127.0.0.1:PORT'
  const { host, port, tls } = listener
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  // Port 0: the gateway picks one, and logs it.
  const address = `${own.includes(':') ? `[${own}]` : own}:${port === 0 ? 'PORT' : port}`
  return `${tls === null ? 'http' : 'https'}://${address}`
}
