/** Several gateways on one store with concurrent calls on one session. For each driver. */

import type { Test } from 'tap'
import type { Store, StoredSession } from '../../../seats-admin/index.ts'
import { ADMIN, allSeats, column, writer } from './conformance.ts'
import {
  atOnce,
  browserSession,
  family,
  hash,
  HOUR,
  NOW,
  proofOf,
  provider,
  RENEWAL,
  sessionCalls,
  type sessionTest,
} from './session-records.ts'

/** Uses one handle twenty times at once, in several rounds. */
export async function useAtOnce(t: Test, stores: readonly [Store, Store], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const session = family()
    await stores[0].sessions.create(session)
    const rotations = await atOnce(stores, 20, (store) =>
      store.sessions.rotate(provider(NOW + round), session.id, proofOf(session), hash()),
    )
    const outcomes = column(rotations, 'outcome').toSorted()
    t.same(outcomes, [...Array(18).fill('ended'), 'replayed', 'rotated'])
    for (const { sessions } of stores)
      t.equal((await sessions.sessionById('acme', session.id))?.endedAt, NOW + round, 'the session is ended')
  }
}

/** For a store whose session of alice was created by an earlier version. */
export async function sessionsFromBefore(t: Test, store: Store): Promise<void> {
  const id = 'A'.repeat(22)
  const page = { limit: 9, after: null, user: 'alice', now: NOW }
  t.match((await store.listSessions('acme', page)).data, [{ id, kind: 'browser', createdAt: null }])
  t.match(await store.sessions.sessionById('acme', id), { providerSession: null, sealed: 'sealed' })
  t.match(await store.sessions.endSome(provider(), { providerSession: hash() }, 9), { changes: [] })
  t.match(await store.sessions.endSome(provider(), { user: 'alice' }, 9), { changes: [{ key: id }] })
  t.match((await store.sessions.readSession('acme', id)).value, { endedAt: NOW })
}

/** For a store of an earlier version without sessions, whose Seat `s1` has a key and a member, and one change. */
export async function sessionsOfNone(t: Test, store: Store): Promise<void> {
  t.match(await allSeats(store), [{ id: 's1', name: 'Viewer', memberCount: 1 }])
  t.same((await store.apiKeyById('acme', 'k1')).value?.seatIds, ['s1'])
  const { head, changes } = await store.changesSince(null)
  t.strictSame([head, changes?.length], [{ seq: 1, mark: 7 }, 1])

  const { created, has, rotate } = sessionCalls(t, store)
  const session = await created(family())
  await has(session)
  const replay = await rotate(session, { handle: hash() })
  t.equal(replay.outcome === 'replayed' && replay.committed.seq, 2, 'the feed continues')
  t.strictSame((await store.changesSince(head)).changes?.length, 1)
}

/** The calls on one session at two gateways. */
export function sessionInstances(test: ReturnType<typeof sessionTest>): void {
  test('of twenty uses of one handle exactly one succeeds', async (t, one, other) => {
    await useAtOnce(t, [one.store, other.store], 4)
    t.equal((await one.feed()).length, 4, 'each end was announced once')
  })

  test('a handle is valid at both stores in turn', async (t, one, other) => {
    const session = await one.created(family())
    let good = session.handleHash ?? hash()
    for (let round = 0; round < 4; round++) {
      const next = hash()
      const { use } = round % 2 === 0 ? other : one
      t.equal(await use(session, { handle: good }, next), 'rotated')
      good = next
    }
  })

  test('live sessions in pages, in the same order at both stores', async (t, one, other) => {
    const users = ['alice', '\ud800', 'x'.repeat(255)]
    const made = users.flatMap((user) => [
      family({ user }),
      browserSession({ user, createdAt: null }),
      family({ user }),
    ])
    const [gone] = made
    const others = [family({ expiresAt: NOW }), family({ tenant: 'globex' })]
    for (const each of [...made, ...others]) await one.sessions.create(each)
    await other.sessions.end('acme', gone?.id ?? '', NOW)
    const live = made.slice(1)
    for (const { store } of [one, other])
      for (const user of [null, ...users]) {
        const found: string[] = []
        for (let more = true; more;) {
          const page = { limit: 2, after: found.at(-1) ?? null, user, now: NOW }
          const { data, hasMore } = await store.listSessions('acme', page)
          found.push(...data.map(({ id }) => id))
          more = hasMore
        }
        const wanted = live.filter((each) => user === null || each.user === user).map(({ id }) => id)
        t.same(found, wanted.toSorted(), JSON.stringify(user))
      }
    const all = { limit: 100, after: null, user: null, now: NOW }
    for (const { id, user, email, createdAt, expiresAt, kind } of (await one.store.listSessions('acme', all))
      .data) {
      const row = live.find((each) => each.id === id)
      t.strictSame(
        [user, email, createdAt, expiresAt],
        [row?.user, row?.email, row?.createdAt, row?.expiresAt],
      )
      t.equal(kind, row?.cookieHash === null ? 'program' : 'browser')
    }
  })

  test('an administrator ends a session', async (t, one, other) => {
    const session = await one.created(browserSession())
    for (const now of [NOW, NOW + 5]) {
      const ended = await other.store.endSession(writer(ADMIN, now), session.id)
      t.match(ended, { value: null, changes: [{ tenant: 'acme', kind: 'session', key: session.id }] })
      t.match(await one.stored(session), { endedAt: NOW, sealed: '' })
    }
    t.equal((await one.feed()).length, 2)
    for (const id of ['A'.repeat(22), '', '\0', '\ud800'])
      t.match(await one.store.endSession(writer(), id), { refused: 'session_not_found' })
  })

  test('a logout and a sign-in at once: the session ends, or its sign-in sees the logout', async (t, one, other) => {
    for (let round = 0; round < 20; round++) {
      const [providerSession, token] = [hash(), hash()]
      const user = `user ${round}`
      const session = browserSession({ providerSession, user })
      const signIn = async () => {
        await one.sessions.create(session)
        return one.sessions.loggedOutSince('acme', { digest: token, since: NOW })
      }
      const logout = async () => {
        await other.sessions.recordLogout('acme', token, NOW)
        const subject = round % 2 === 0 ? { providerSession } : { user }
        return other.sessions.endSome(provider(), subject, 10)
      }
      const [isSeen] = await Promise.all([signIn(), logout()])
      const found = await other.stored(session)
      t.ok(isSeen || found?.endedAt === NOW, `round ${round}`)
    }
  })

  test('of twenty claims exactly one succeeds', async (t, one, other) => {
    for (let round = 0; round < 4; round++) {
      const session = await one.created(browserSession())
      const claims = await atOnce([one, other], 20, ({ claim }) => claim(session))
      t.equal(claims.filter((claim) => claim !== null).length, 1)
    }
  })

  test('an ended session stays ended under concurrent calls', async (t, one, other) => {
    for (let round = 0; round < 5; round++) {
      const session = await one.created(family())
      const next = hash()
      const rename = { ...RENEWAL, sealed: 'never again' }
      await Promise.all([
        one.rotate(session, {}, next),
        other.end(session, NOW + 1),
        one.giveBack(session, next, session.handleHash, 'never again'),
        other.renew(session, session.handleHash, rename),
        one.renew(session, next, rename),
      ])
      const found = await one.stored(session)
      t.strictSame([found?.endedAt, found?.sealed], [NOW + 1, ''])
      t.equal(await other.use(session), 'ended')
    }
  })

  test('after an end or a renewal at one store, the other reads the new state', async (t, one, other) => {
    for (let round = 0; round < 4; round++) {
      const session = await one.created(browserSession())
      const renewed = await one.renew(session, null, RENEWAL)
      const first = await other.sessions.readSession('acme', session.id)
      t.strictSame([first.seq, first.mark], [renewed?.seq, renewed?.mark])
      t.strictSame([first.value?.issuedAt, first.value?.endedAt], [RENEWAL.issuedAt, null])
      const ended = await other.end(session)
      const second = await one.sessions.readSession('acme', session.id)
      t.strictSame([second.seq, second.mark, second.value?.endedAt], [ended?.seq, ended?.mark, NOW])
    }
  })

  test('the request path reads neither handles nor tokens', async (t, one, other) => {
    const session = await one.created(family())
    const { value } = await other.sessions.readSession('acme', session.id)
    const record =
      'cookieHash email endedAt expiresAt hashPerm id issuedAt renewAt revoked tenant user voidUntil'
    t.strictSame(Object.keys(value ?? {}).toSorted(), record.split(' '))
  })

  test('the same session can be created twice, another one with its id can not', async (t, one, other) => {
    for (const session of [browserSession(), family()]) {
      await atOnce([one, other], 6, ({ sessions }) => sessions.create(session))
      const others: Partial<StoredSession>[] =
        session.cookieHash === null
          ? [{ familyHash: hash() }, { handleHash: hash() }]
          : [{ cookieHash: hash() }]
      for (const more of [...others, family(), browserSession()]) {
        const { id } = session
        await t.rejects(other.sessions.create({ ...session, ...more, id }), /^another session has this id$/)
      }
      await one.has(session)
    }
  })

  test('a browser session never gets a handle, and a family never loses its own', async (t, one) => {
    const [browser, program] = [browserSession(), family()]
    const tells = (cause: Error, secret: Uint8Array | null) =>
      `${cause.stack}${JSON.stringify(cause)}`.includes(Buffer.from(secret ?? []).toString('hex'))
    for (const session of [browser, program]) {
      await one.sessions.create(session)
      const [from, to] = session === browser ? [null, hash()] : [session.handleHash, null]
      const cause = await one.giveBack(session, from, to, 'x').catch((error) => error)
      t.ok(cause instanceof Error && !tells(cause, from ?? to), String(cause))
      await one.has(session)
    }
    await t.rejects(one.sessions.create({ ...browser, id: 'both', familyHash: hash(), handleHash: hash() }))
    await t.rejects(one.sessions.create({ ...browser, id: 'none', cookieHash: null }))
    for (const id of ['both', 'none']) t.equal(await one.sessions.sessionById('acme', id), null)
  })

  test('prune removes expired sessions, the oldest first, in limited batches', async (t, one) => {
    const ages = Array.from({ length: 250 }, (_, at) => browserSession({ expiresAt: NOW - 1 - at }))
    const [live, ended] = [browserSession({ expiresAt: NOW }), browserSession({ expiresAt: NOW + HOUR })]
    await Promise.all([...ages, live, ended].map(one.created))
    await one.end(ended, NOW - HOUR)
    for (const [gone, left] of [
      [100, 150],
      [100, 50],
      [50, 0],
      [0, 0],
    ]) {
      t.equal(await one.sessions.prune(NOW, 100), gone)
      const found = await Promise.all(ages.map(one.stored))
      t.strictSame(
        found.map((session) => session !== null),
        ages.map((_, at) => at < (left ?? 0)),
      )
    }
    await one.has(live)
    t.ok(await one.stored(ended), 'an ended session stays until it would have expired')
  })

  test('concurrent prunes count each session once', async (t, one, other) => {
    const old = Array.from({ length: 200 }, (_, at) =>
      family({ expiresAt: NOW - 1 - at, tenant: at % 2 === 0 ? 'acme' : 'globex' }),
    )
    await Promise.all(old.map(one.created))
    let pruned = 0
    await atOnce([one, other], 2, async ({ sessions }) => {
      for (let gone = 1; gone > 0; pruned += gone) gone = await sessions.prune(NOW, 15)
    })
    t.equal(pruned, 200)
    for (const { tenant, id } of old) t.equal(await one.sessions.sessionById(tenant, id), null)
  })
}
