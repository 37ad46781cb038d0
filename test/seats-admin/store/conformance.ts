/** What tests of the store share: callers, outcomes, and suites whose tests each get an empty store. */

import type { Test } from 'tap'
import {
  type AdminRefusal,
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
export async function everything<V extends { readonly id: string }>(
  list: (page: Page) => Promise<Listing<V>>,
  page: Omit<Page, 'after'>,
): Promise<V[]> {
  const found: V[] = []
  for (let after: string | null = null; ;) {
    const { data, hasMore, next }: Listing<V> = await list({ ...page, after })
    if (data.length > page.limit || hasMore !== (next !== null)) throw new Error('not a page')
    found.push(...data)
    if (next === null) return found
    if (next <= (after ?? '') || next < (data.at(-1)?.id ?? '')) throw new Error('the page does not advance')
    after = next
  }
}

/** All Seats of `acme`. */
export function allSeats(store: Store): Promise<ListedSeat[]> {
  return everything((page) => store.listSeats('acme', page), PAGE)
}

/** Park and Miller's sequence: numbers below a limit, and parts of a list. */
export function randoms(seed: number) {
  let state = seed
  const below = (limit: number) => (state = (state * 48_271) % 2_147_483_647) % limit
  const some = <V>(of: readonly V[], most: number) =>
    [...new Set(Array.from({ length: below(most + 1) }, () => of[below(of.length)]))] as V[]
  return { below, some }
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

/** The test function of a suite, and calls that fill its store. */
export function suiteOf(t: Test, openStore: (t: Test) => Promise<Store>) {
  const test = (name: string, run: (t: Test, store: Store) => Promise<void>) =>
    t.test(name, async (t) => run(t, await openStore(t)))
  const seat = async (store: Store, name: string, spaces = ['one'], permissions = ['a:b'], as = writer()) =>
    done(await store.createSeat(as, { name, spaces, permissions })).value
  const key = async (store: Store, seats: string[], as = writer()) =>
    done(await store.createApiKey(as, { name: 'ci', seats, expiresAt: null })).value
  const allOf = async (store: Store) => (await allSeats(store)).map((each) => each.id)
  const namesOf = async (store: Store, scope: Scope, limit = 100, after: string | null = null) =>
    (await store.listSeats('acme', { limit, after, scope })).data.map((each) => each.name)
  return { test, seat, key, allOf, namesOf }
}
