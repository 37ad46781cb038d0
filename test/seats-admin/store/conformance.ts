/** What tests of the store share: callers, outcomes, and suites whose tests each get an empty store. */

import type { BlockOrigin } from '../../../seats-admin/model/block.ts'
import type { Test } from 'tap'
import {
  type AdminRefusal,
  type ApiKey,
  type Committed,
  isRefusal,
  type ListedSeat,
  type Listing,
  type NumberedChange,
  type Page,
  type Position,
  type Scope,
  type Store,
  type Writer,
} from '../../../seats-admin/index.ts'
import type { StoredSeat } from '../../../seats-admin/model/seat.ts'
import type { SignedInIdentity } from '../../../seats-admin/model/user.ts'

export const ADMIN: Scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }

export function inSpace(space: string, ...permissions: string[]): Scope {
  return { space, admin: space === 'admin', all: permissions.includes('*'), permissions }
}

export function writer(scope: Scope = ADMIN, now = Date.now(), tenant = 'acme'): Writer {
  return { tenant, by: 'alice', scope, now }
}

export function signedIn(sub: string, at = 1): SignedInIdentity {
  return { sub, email: null, name: null, at }
}

/** The result; throws on a refusal. */
export function done<V>(result: V | AdminRefusal): V {
  if (isRefusal(result)) throw new Error(`${result.refused}: ${JSON.stringify(result.faults)}`)
  return result as V
}

export function refused(result: unknown): string {
  return isRefusal(result) ? result.refused : 'not refused'
}

/** One value of each. */
export function column<V, K extends keyof V>(list: readonly V[], name: K): V[K][] {
  return list.map((each) => each[name])
}

/** The position before the first change. */
export const BEGINNING: Position = { seq: 0, mark: 0 }

export function positionOf({ seq, mark }: Position): Position {
  return { seq, mark }
}

/** The changes of a write as in the feed. */
export function numbered({ seq, mark, changes }: Committed): NumberedChange[] {
  return changes.map((change, at) => ({ ...change, seq: seq - changes.length + 1 + at, mark }))
}

export const PAGE: Page = { limit: 100, after: null, scope: ADMIN }
export const NOTHING = { spaces: [], permissions: [] }
/** An id that no record has. */
export const MISSING = '00000000000000000000000000'

/** All items, read by page as a reader must: until `next` is null. */
export async function everything<V, P extends { readonly limit: number }>(
  list: (page: P & { readonly after: string | null }) => Promise<Listing<V>>,
  page: P,
): Promise<V[]> {
  const found: V[] = []
  for (let after: string | null = null; ;) {
    const { data, hasMore, next }: Listing<V> = await list({ ...page, after })
    if (data.length > page.limit || hasMore !== (next !== null)) throw new Error('not a page')
    found.push(...data)
    if (next === null) return found
    if (bytewise(next, after ?? '') <= 0) throw new Error('the page does not advance')
    after = next
  }
}

export function bytewise(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** All Seats of `acme`. */
export function allSeats(store: Store): Promise<ListedSeat[]> {
  return everything((page) => store.listSeats('acme', page), PAGE)
}

/** The names of all Seats that a caller sees. */
export async function allNames(store: Store, scope = ADMIN): Promise<string[]> {
  return column(await everything((page) => store.listSeats('acme', page), { ...PAGE, scope }), 'name')
}

/** What each call of a writer is refused for, as {@link refused} says it. */
export function tried(store: Store, as: Writer = writer()) {
  return {
    create: async (name: string, spaces: string[] = [], permissions: string[] = []) =>
      refused(await store.createSeat(as, { name, spaces, permissions })),
    update: async (id: string, patch: object = {}) => refused(await store.updateSeat(as, id, patch)),
    remove: async (id: string) => refused(await store.deleteSeat(as, id)),
    createKey: async (seats: readonly string[]) =>
      refused(await store.createApiKey(as, { name: 'k', seats, expiresAt: null })),
    revoke: async (id: string) => refused(await store.revokeApiKey(as, id)),
  }
}

/** Creates a Seat. */
export async function seat(
  store: Store,
  name: string,
  spaces: readonly string[] = ['one'],
  permissions: readonly string[] = ['a:b'],
  as = writer(),
): Promise<StoredSeat> {
  return done(await store.createSeat(as, { name, spaces, permissions })).value
}

/** Creates an API key with Seats of these names. */
export async function key(
  store: Store,
  seats: readonly string[],
  { name = 'ci', expiresAt = null as number | null, as = writer() } = {},
): Promise<ApiKey & { key: string }> {
  return done(await store.createApiKey(as, { name, seats, expiresAt })).value
}

/** Blocks a user. */
export async function block(
  store: Store,
  user: string,
  until: number | null = null,
  { reason = null as string | null, origin = 'admin' as BlockOrigin, as = writer() } = {},
) {
  return done(await store.createBlock(as, { user, until, reason, origin }))
}

type SuiteTest = (name: string, run: (t: Test, store: Store) => Promise<void>) => void

/** A suite of tests that each get an empty store. */
export function suite(tests: (test: SuiteTest) => void) {
  return (t: Test, openStore: (t: Test) => Promise<Store>): void =>
    tests((name, run) => void t.test(name, async (t) => run(t, await openStore(t))))
}
