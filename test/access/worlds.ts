/** Random Seats, API keys and tables in a real store, and the gateway's own answer to every caller. */

import { join } from 'node:path'
import fc from 'fast-check'
import { isRefusal, openSqliteStore } from '../../seats-admin/index.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import { tablesOf as tablesOfConfig } from '../../src/access/tables.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { ProcessEphemeral } from '../../src/oidc/sign-in/completed-sign-ins.ts'
import { extensions } from '../../src/composition.ts'
import { DecisionPoint } from '../../src/runtime/decision-point.ts'
import { folderWith, SECRET } from '../cli/command-line.ts'
import { entriesOf, pairs, type TablesInput } from './random-tables.ts'
import type { Test } from 'tap'

export const TENANT = 'acme'
export const SPACES = ['main', 'dev', 'admin', 'else']
const PERMISSIONS = ['p:q', 'r:s', 'a:b', '*', 'seats:list', 'access:read']

interface KeyInput {
  readonly seats: readonly number[]
  readonly state: 'valid' | 'revoked' | 'expired'
}

export interface World {
  readonly tables: TablesInput
  readonly seats: readonly SeatInput[]
  readonly keys: readonly KeyInput[]
}

const SEATS = 6

export function worlds(depth: number): fc.Arbitrary<World> {
  const seat = fc.record({
    spaces: fc.subarray(SPACES.slice(0, 3)),
    permissions: fc.subarray(PERMISSIONS),
  })
  const seats = fc
    .array(seat, { minLength: 1, maxLength: SEATS })
    .map((all) => all.map((each, at) => ({ name: `Seat ${at}`, ...each })))
  const key = fc.record({
    seats: fc.uniqueArray(fc.nat(SEATS - 1), { maxLength: 3 }),
    state: fc.constantFrom<KeyInput['state']>('valid', 'valid', 'valid', 'revoked', 'expired'),
  })
  return fc.record({
    tables: pairs(depth).map(([tables]) => tables),
    seats,
    keys: fc.array(key, { maxLength: 5 }),
  })
}

const CONFIG = `listen: 127.0.0.1:0
ops: 127.0.0.1:0
store: sqlite:./none.db
tenants:
  acme: { token: { secrets: ["${SECRET}"] } }
upstreams:
  plain: { targets: ["http://127.0.0.1:9"] }
  semicolons: { targets: ["http://127.0.0.1:9"], allow_semicolons: true }
  slashes: { targets: ["http://127.0.0.1:9"], allow_encoded_slashes: true }
routes: [routes/*.yaml]
`

export interface Caller {
  readonly apiKey: string
  /** Names. */
  readonly seats: readonly string[]
  readonly id: string
}

export type Built = Awaited<ReturnType<typeof build>>

let base: Config | null = null

/** Keys expire a second after their creation, so the clock of the questions is later. */
export async function build(t: Test, { tables, seats, keys }: World) {
  const file = 'gateway.config.yaml'
  const folder = folderWith(t, { [file]: CONFIG, 'routes/a.yaml': 'upstream: plain\nroutes: {}\n' })
  base ??= await loadConfig(join(folder, file), {})
  const store = await openSqliteStore({ path: join(folder, 'seatgate.db'), timeout: 60_000 })
  const scope = { space: 'admin', admin: true, all: true, permissions: [] }
  const past = Date.now() - 60_000
  const writer = { tenant: TENANT, by: 'test', scope, now: past }
  for (const seat of seats) made(await store.createSeat(writer, seat))
  const keyOf = async (names: readonly string[], expiresAt: number | null): Promise<Caller> => {
    const input = { name: 'key', seats: names, expiresAt }
    const { value } = made(await store.createApiKey(writer, input))
    return { apiKey: value.key, seats: names, id: value.id }
  }
  const own = await Array.fromAsync(keys, async ({ seats: indices, state }) => {
    const names = indices.flatMap((at) => seats[at]?.name ?? [])
    const key = await keyOf(names, state === 'expired' ? past + 1000 : null)
    if (state === 'revoked') made(await store.revokeApiKey(writer, key.id))
    return key
  })
  const holders = await Array.fromAsync(seats, ({ name }) => keyOf([name], null))
  const config = { ...base, methods: tables.methods ?? [], routes: entriesOf(tables) }
  const silent = { info: () => {}, warn: () => {}, error: () => {} }
  const ports = { ephemeral: new ProcessEphemeral(), log: silent }
  const point = await DecisionPoint.forOneDecision(store, ports, config.memory, extensions.endpoints)
  const { engine, table } = await point.compile(config)
  const compiled = tablesOfConfig(config, table)
  /** The id of the entry and whether it was allowed; null: the gateway refuses it before it reads a credential. */
  const answer = async (
    caller: Caller | null,
    { method, path, space }: Readonly<Record<'method' | 'path' | 'space', string>>,
  ): Promise<{ route: string | null; allowed: boolean }> => {
    if (!compiled.methods.has(method)) return { route: null, allowed: false }
    const apiKey = caller === null ? [] : [caller.apiKey]
    const credentials = { apiKey, authorization: [], cookie: [], space: [space] }
    const browser = { method, rawHeaders: [], upgrade: false }
    const { decision } = await engine.evaluate({ method, target: path, host: null, credentials, browser })
    return { route: decision.route?.id ?? null, allowed: decision.answer === 'allow' }
  }
  // One API key for each Seat, and those of the world.
  return { store, tables: compiled, holders, keys: own, answer, close: () => store.close() }
}

function made<V>(result: V): Exclude<V, { refused: unknown }> {
  if (isRefusal(result)) throw new Error(result.detail)
  return result as Exclude<V, { refused: unknown }>
}
