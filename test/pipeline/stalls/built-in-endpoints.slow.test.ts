/**
 * No request of a built-in endpoint holds the event loop for long, accepted or refused, whatever the tenant has stored: each
 * operation of the OpenAPI document and of AuthZEN with its worst bodies and queries. `STALLS=1` prints what each took.
 */

import t from 'tap'
import type { JsonSchema } from '../../../seats-admin/model/json-schema.ts'
import {
  EVALUATION_PATH,
  EVALUATIONS_PATH,
  SEARCH_PATHS,
} from '../../../src/external-authorization/authzen/discovery.ts'
import { builtInOperations } from '../../../src/composition.ts'
import { decisionPort } from '../../external-authorization/support.ts'
import { startSignIn } from '../../sign-in/world.ts'
import type { Sent } from './client-thread.ts'
import { MeasuredClient } from './measured-client.ts'
import { type Described, worstRequests } from './worst-requests.ts'

const world = await startSignIn(t, { top: ['decision: { listen: 127.0.0.1:0 }'] })
const { gateway } = world
const client = new MeasuredClient(t)
const administrator = { 'x-api-key': gateway.keys['acme'] ?? '', space: 'admin' }
const pep = { authorization: `Bearer ${gateway.keys['acme']}` }
const longest = new Map<string, number>()

interface Repeated {
  /** How often the request is sent at once. */
  readonly atOnce?: number
  /** The request that undoes what this one has written. */
  readonly undo?: Partial<Sent> | null
}

/** @returns the status of the last answer */
async function measured(
  operation: string,
  name: string,
  sent: Partial<Sent>,
  { atOnce = 1, undo = null }: Repeated = {},
): Promise<number> {
  const { stall, isShort, status } = await client.measure(whole(sent), atOnce, undo && whole(undo))
  t.ok(isShort, `${operation}: ${name}: held for ${stall.toFixed(1)} ms`)
  longest.set(operation, Math.max(longest.get(operation) ?? 0, stall))
  return status
}

function whole(sent: Partial<Sent>): Sent {
  const headers = { 'content-type': 'application/json', ...(sent.headers ?? administrator) }
  return { port: gateway.port, method: 'GET', path: '/', body: null, ...sent, headers }
}

async function accepted(operation: string, name: string, sent: Partial<Sent>): Promise<void> {
  t.equal(await measured(operation, name, sent), 200, `${operation}: ${name}`)
}

/** All requests of an operation, and their statuses. @param of plain, since another thread gets it */
async function walk(operation: string, of: Described, place: Pick<Sent, 'port' | 'path' | 'headers'>) {
  const statuses: Record<string, number> = {}
  for (const { name, query, type, body } of worstRequests(of)) {
    const headers = { ...place.headers, 'content-type': type }
    const sent = { ...place, method: of.method, path: place.path + query, headers }
    statuses[name] = await measured(operation, name, { ...sent, body: body === null ? null : { of, name } })
  }
  return statuses
}

const example = (text: string): JsonSchema => ({ type: 'string', enum: [text] })
const members = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
})
const entity = (type: string, id: string) => members({ type: example(type), id: example(id) })
const QUESTION = {
  subject: entity('api-key', 'none'),
  action: members({ name: example('GET') }),
  resource: entity('route', '/v1/trainings'),
  context: members({ space: example('main') }),
}
/** Of all endpoints together. */
const AUTHZEN = members({
  ...QUESTION,
  evaluations: { type: 'array', items: members(QUESTION), maxItems: 1000 },
})

const file = (count: number, of: (at: number) => object) =>
  JSON.stringify({
    seats: Object.fromEntries(Array.from({ length: count }, (_, at) => [`Seat ${at}`, of(at)])),
  })
const STAR = { spaces: ['main'], permissions: ['*'] }
/** The one that the test's administrator holds. */
const ADMIN = JSON.stringify({ spaces: ['admin'], permissions: ['*'] })
const BIG = 500
/** A Seat of 50 KiB. */
const big = (at: number) => ({
  spaces: ['main'],
  permissions: Array.from({ length: 2500 }, (_, each) => `resource-${each}:op-${at}`),
})
/** The Seats of one holder may have 100,000 spaces and permissions. */
const wide = (at: number) => ({
  spaces: Array.from({ length: 98 }, (_, each) => `space-${each}-of-${at}`),
  permissions: ['*'],
})
const nothing = () => ({ spaces: [], permissions: [] })

const plan = (name: string, body: string) =>
  accepted('POST /v1/seats/plan', name, { method: 'POST', path: '/v1/seats/plan', body })
const applied = (body: string) => ({ method: 'POST', path: '/v1/seats/apply', body })
/** @param before the Seats that another try begins with */
async function apply(name: string, body: string, before: string): Promise<void> {
  const status = await measured('POST /v1/seats/apply', name, applied(body), { undo: applied(before) })
  t.equal(status, 200, name)
}
/** The file, and no other Seats but the administrator's. */
const only = (seats: string) =>
  seats.replace('"seats":{', `"seats":{"admin":${ADMIN},`).replace('{', '{"prune":true,').replace(',}', '}')

await t.test('plans and changes of many and large Seats', { timeout: 300_000 }, async () => {
  const stars = file(10_000, () => STAR)
  await plan(
    'a first request',
    file(1, () => STAR),
  )
  await plan('10,000 Seats of *', stars)
  await apply('10,000 new Seats of *', stars, only(file(0, nothing)))
  await plan('10,000 unchanged Seats', stars)
  await plan('10,000 Seats without a space', file(10_000, nothing))
  const many = { method: 'POST', path: '/v1/seats/plan', body: file(3000, nothing) }
  t.equal(await measured('POST /v1/seats/plan', '12 at once', many, { atOnce: 12 }), 200)
  const changed = file(10_000, () => ({ spaces: ['main', 'other'], permissions: ['*'] }))
  await apply('10,000 changed Seats', changed, stars)
  const kept = only(file(100, () => STAR))
  await plan('9,900 Seats to be deleted', kept)
  await apply(
    '9,900 deleted Seats',
    kept,
    file(9900, () => STAR),
  )
  await apply('1,000 Seats of 98 spaces each', file(1000, wide), kept)
  for (let from = 0; from < BIG; from += 125) {
    const named = (seats: string) => seats.replaceAll('"Seat ', `"Big ${from} `)
    const seats = file(125, (at) => big(from + at))
    await apply('125 Seats of 50 KiB', named(seats), named(file(125, nothing)))
  }
  const names = [0, 125, 250, 375].map((from) =>
    file(125, nothing).slice(10, -2).replaceAll('"Seat ', `"Big ${from} `),
  )
  await plan('500 Seats of 50 KiB, by 20 KiB', `{"seats":{${names.join()}}}`)
})

await t.test('each operation', { timeout: 300_000 }, async () => {
  world.user('alice', { memberOf: Array.from({ length: 125 }, (_, at) => `Big 0 ${at}`) })
  await world.visitor('alice').signIn()
  const seats = Array.from({ length: 1000 }, (_, at) => `Seat ${at}`)
  const { id: key } = (await gateway.admin('POST', '/v1/api-keys', { name: 'many', seats })).json
  const { id: spare } = (await gateway.admin('POST', '/v1/api-keys', { name: 'spare', seats: ['Big 0 1'] }))
    .json
  const [user] = (await gateway.admin('GET', '/v1/users')).json.data
  const stored: Readonly<Record<string, string>> = {
    seat_id: await seatNamed('Big 0 1'),
    sub: user.sub,
    tenant: 'acme',
  }
  const questions = [
    '/v1/seats?limit=100',
    '/v1/api-keys?limit=100',
    `/v1/api-keys/${key}`,
    '/v1/users?limit=100&q=a',
    `/v1/users/${encodeURIComponent(user.sub)}`,
    '/v1/sessions?limit=100',
    '/v1/blocks?limit=100',
    '/v1/audit?limit=100',
    '/v1/audit?limit=100&action=seat.delete',
    '/v1/access/who-can?permission=trainings:list&limit=100',
    '/v1/access/who-can?method=GET&path=/v1/trainings&limit=100',
    `/v1/access/can?user=${encodeURIComponent(user.sub)}&space=main&limit=100`,
    `/v1/access/can?api_key=${key}&limit=100`,
    `/v1/access/can?${Array.from({ length: 39 }, (_, at) => `seat=Big+0+${at}`).join('&')}`,
    '/v1/routes?limit=100',
    '/v1/decisions?limit=100',
    '/v1/fleet',
    '/v1/openapi.json',
  ]
  for (const path of questions) await accepted(`GET ${path.split('?')[0]}`, path, { path })
  const asked = { method: 'GET', path: '/v1/trainings', space: 'main' }
  const few = seats.slice(0, 200)
  for (const holder of [{ seats: few }, { user: user.sub }, { api_key: key }]) {
    const sent = { method: 'POST', path: '/v1/access/explain', body: JSON.stringify({ ...asked, ...holder }) }
    await accepted('POST /v1/access/explain', Object.keys(holder).join(), sent)
  }
  for (const operation of builtInOperations()) {
    const { method, path, maxBody, query, body }: Described = operation
    const plain = JSON.stringify({ method, path, maxBody, query: nulls(query), body })
    const target = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
      encodeURIComponent(stored[name] ?? spare),
    )
    const place = { port: gateway.port, path: target, headers: administrator }
    await walk(`${method} ${path}`, JSON.parse(plain), place)
  }
})

await t.test('each operation of AuthZEN', { timeout: 300_000 }, async (t) => {
  const authzen = [EVALUATION_PATH, EVALUATIONS_PATH, ...SEARCH_PATHS.map(({ path }) => path)]
  for (const path of authzen) {
    const of = { method: 'POST', path, body: { schema: AUTHZEN } }
    const place = { port: decisionPort(gateway), path, headers: pep }
    const statuses = await walk(`POST ${path}`, of, place)
    t.equal(statuses['in the form of the schema'], 200, path)
  }
})

if (process.env['STALLS'] !== undefined)
  for (const [operation, stall] of longest) console.error(`${stall.toFixed(1).padStart(6)} ms  ${operation}`)

async function seatNamed(name: string): Promise<string> {
  const answer = await gateway.admin('POST', '/v1/seats/plan', { seats: { [name]: nothing() } })
  return answer.json.changes[0].id
}

function nulls(query: object | undefined): Record<string, null> {
  return Object.fromEntries(Object.keys(query ?? {}).map((name) => [name, null]))
}
