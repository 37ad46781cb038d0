/**
 * The whole gateway of `sign-in/world.ts`, one for all cases of a file, and what the tests of this folder read in its store
 * and its audit.
 */

import type { RequestListener } from 'node:http'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import root, { type Test } from 'tap'
import { SESSION_COLUMNS, storedSession } from '../../seats-admin/store/session-queries.ts'
import { type Settings, type SignInWorld, type Start, startSignIn } from '../sign-in/world.ts'

export type { SignInWorld }

export const HOUR = 3_600_000

/** Says what the gateway has told the upstream about the caller. */
const answer: RequestListener = ({ headers }, response) => {
  const of = (name: string) => headers[`x-seatgate-${name}`]
  response.setHeader('content-type', 'application/json')
  const caller = { auth: of('auth'), tenant: of('tenant'), user: of('user'), email: of('email') }
  response.end(JSON.stringify({ ...caller, seats: of('seats') }))
}

let start: Start = {}
let shared: Promise<SignInWorld> | null = null
const NEWEST = `SELECT
  (SELECT ifnull(max(rowid), 0) FROM sessions) AS sessions,
  (SELECT max(seq) FROM changes) AS changes,
  (SELECT max(seq) FROM audit WHERE tenant = 'acme') AS audit`
const NONE = { sessions: 0, changes: 0, audit: 0 }
/** The newest rows of earlier cases. */
let before: Record<string, SQLOutputValue> = NONE

/** What the gateway of this file is started with. Call it before any case. */
export function shareWorld(options: Start): void {
  start = options
}

/** The gateway of this file, without users, and with the default configuration besides these settings. */
export async function freshWorld(settings: Settings = {}): Promise<SignInWorld> {
  const isFirst = shared === null
  const world = await (shared ??= startSignIn(root, { answer, ...start, ...settings }))
  if (!isFirst) await world.anew(settings)
  before = stored(world, NEWEST)[0] ?? NONE
  return world
}

/** A gateway of its own, for what no reload changes. */
export function startOwn(t: Test, options: Start = {}): Promise<SignInWorld> {
  before = NONE
  return startSignIn(t, { answer, ...options })
}

/** Makes the Seat, or gives the one of that name these spaces. @returns its id */
export async function seat(
  { gateway }: SignInWorld,
  name: string,
  spaces: readonly string[],
  tenant = 'acme',
) {
  const { json } = await gateway.admin('GET', '/v1/seats?limit=100', undefined, tenant)
  const found = json.data.find((each: { name: string }) => each.name === name)
  if (found === undefined) return gateway.seat(name, spaces, ['trainings:list'], tenant)
  await gateway.admin('PUT', `/v1/seats/${found.id}`, { spaces }, tenant)
  return String(found.id)
}

/** Blocks the user. @returns what ends the block */
export async function block({ gateway }: SignInWorld, user: string): Promise<() => Promise<unknown>> {
  const { json } = await gateway.admin('POST', '/v1/blocks', { user })
  return () => gateway.admin('DELETE', `/v1/blocks/${json.id}`)
}

/** Rows of the store. */
export function stored({ gateway }: SignInWorld, sql: string): Record<string, SQLOutputValue>[] {
  using store = new DatabaseSync(gateway.storeFile, { readOnly: true, timeout: 60_000 })
  return store.prepare(sql).all()
}

/** The sessions of this case, in the order of their creation. */
export function sessions(world: SignInWorld) {
  const sql = `SELECT ${SESSION_COLUMNS} FROM sessions WHERE rowid > ${before['sessions']} ORDER BY rowid`
  return stored(world, sql).map(storedSession)
}

/** Ids of the sessions that every instance reads to have changed, in this case. */
export function announced(world: SignInWorld) {
  const sql = `SELECT key FROM changes WHERE kind = 'session' AND seq > ${before['changes']} ORDER BY seq`
  return stored(world, sql).map(({ key }) => key)
}

/** Statements about this table fail. @returns what makes them work again */
export function breakTable({ gateway }: SignInWorld, table: string): () => void {
  const rename = (from: string, to: string) => {
    using store = new DatabaseSync(gateway.storeFile, { timeout: 60_000 })
    store.exec(`ALTER TABLE ${from} RENAME TO ${to}`)
  }
  rename(table, 'gone')
  return () => rename('gone', table)
}

/** What the audit of acme says about ends of sessions in this case, oldest first. */
export async function endsInAudit({ gateway }: SignInWorld) {
  const { json } = await gateway.admin('GET', '/v1/audit?action=session.end&limit=100')
  return json.data.filter(({ seq }: { seq: number }) => seq > Number(before['audit'])).toReversed()
}

/**
 * The sessions that the audit of acme says its provider ended in this case, oldest first.
 *
 * @param event of the log: each line's request is the one of an entry
 */
export async function endedByProvider(t: Test, world: SignInWorld, event: string) {
  const { issuer } = world.acme
  const actor = { kind: 'provider', id: issuer, name: new URL(issuer).host }
  const entries = await endsInAudit(world)
  for (const each of entries) t.match(each, { tenant: 'acme', action: 'session.end', actor, space: 'admin' })
  const asked = new Set(entries.map(({ request_id }: { request_id: string }) => request_id))
  const logged = new Set(world.events(event).map(({ request_id }) => request_id))
  t.same([...asked], [...logged], 'the audit and the log name the same requests')
  return entries
}

/** A user of acme, as administrators see it. */
export async function userOf({ gateway }: SignInWorld, sub: string) {
  return (await gateway.admin('GET', `/v1/users?sub=${sub}`)).json.data[0]
}
