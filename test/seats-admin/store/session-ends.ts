/** Ends of sessions at the provider, on every driver. */

import type { Test } from 'tap'
import {
  browserSession,
  family,
  hash,
  NOW,
  proofOf,
  RENEWAL,
  type StoreUnderTest,
} from './session-records.ts'

/** @param open opens an empty store */
export function sessionEnds(t: Test, open: (t: Test) => Promise<StoreUnderTest>): void {
  t.test('endSome: the sessions of one session at the provider', async (t) => {
    const store = await open(t)
    const { sessions } = store
    const providerSession = hash()
    const own = [browserSession({ providerSession }), family({ providerSession, expiresAt: NOW - 1 })]
    const others = [
      browserSession({ providerSession: hash() }),
      browserSession(),
      browserSession({ providerSession, tenant: 'globex' }),
    ]
    for (const each of [...own, ...others]) await sessions.create(each)
    const committed = await sessions.endSome('acme', { providerSession }, NOW, 10)
    const ids = own.map(({ id }) => id).toSorted()
    t.same(committed?.changes.map(({ key }) => key).toSorted(), ids, 'expired ones too')
    if (store.feed !== null) t.same((await store.feed()).toSorted(), ids, 'the feed has each of them')
    for (const { tenant, id } of own)
      t.match(await sessions.sessionById(tenant, id), { endedAt: NOW, sealed: '' })
    for (const { tenant, id } of others)
      t.equal((await sessions.sessionById(tenant, id))?.endedAt, null, 'others go on')
    t.equal(await sessions.endSome('acme', { providerSession }, NOW + 1, 10), null, 'none is left')
    t.equal((await sessions.sessionById('acme', own[0]?.id ?? ''))?.endedAt, NOW)
  })

  t.test('endSome: all sessions of a user, in limited batches', async (t) => {
    const { sessions } = await open(t)
    for (const user of ['alice', '\ud800', "a' OR 1=1 --", 'x'.repeat(255)]) {
      const own = Array.from({ length: 5 }, (_, i) =>
        i % 2 === 0 ? family({ user }) : browserSession({ user }),
      )
      const other = browserSession({ user: `${user}.` })
      for (const each of [...own, other]) await sessions.create(each)
      const counts: number[] = []
      for (;;) {
        const committed = await sessions.endSome('acme', { user }, NOW, 2)
        if (committed === null) break
        counts.push(committed.changes.length)
      }
      t.same(counts, [2, 2, 1])
      for (const { id } of own) t.equal((await sessions.sessionById('acme', id))?.endedAt, NOW)
      t.equal((await sessions.sessionById('acme', other.id))?.endedAt, null)
    }
  })

  t.test('endSome: ended sessions cannot be used', async (t) => {
    const { sessions } = await open(t)
    const session = family({ user: 'bob' })
    await sessions.create(session)
    await sessions.endSome('acme', { user: 'bob' }, NOW, 10)
    t.equal((await sessions.rotate('acme', session.id, proofOf(session), hash(), NOW)).outcome, 'ended')
    t.equal(await sessions.renew('acme', session.id, session.handleHash, RENEWAL), null)
  })

  t.test('logouts: the latest record counts, by tenant', async (t) => {
    const { sessions } = await open(t)
    const [digest, other] = [hash(), hash()]
    t.equal(await sessions.loggedOutSince('acme', { digest, since: 0 }), false)
    await sessions.recordLogout('acme', digest, NOW)
    await sessions.recordLogout('acme', digest, NOW - 5)
    t.equal(await sessions.loggedOutSince('acme', { digest, since: NOW }), true)
    t.equal(await sessions.loggedOutSince('acme', { digest, since: NOW + 1 }), false)
    t.equal(await sessions.loggedOutSince('acme', { digest: other, since: 0 }), false)
    t.equal(await sessions.loggedOutSince('globex', { digest, since: 0 }), false)
    const [none, found] = [
      { digest: other, since: 0 },
      { digest, since: NOW },
    ]
    t.equal(await sessions.loggedOutSince('acme', none, found), true, 'one of two')
    t.equal(await sessions.loggedOutSince('acme', found, none), true)
    t.equal(await sessions.loggedOutSince('acme', none, { digest, since: NOW + 1 }), false)
    t.equal(await sessions.loggedOutSince('acme', { ...none, since: NOW + 9 }, null), false)
    await sessions.recordLogout('acme', digest, NOW + 5)
    t.equal(await sessions.loggedOutSince('acme', { digest, since: NOW + 5 }), true)
  })

  t.test('logouts: a token is recorded once, also by many at once', async (t) => {
    const { sessions } = await open(t)
    const digest = hash()
    const all = await Promise.all(Array.from({ length: 8 }, () => sessions.recordToken('acme', digest, NOW)))
    t.equal(all.filter((first) => first).length, 1)
    t.equal(await sessions.recordToken('globex', digest, NOW), true)
    t.equal(await sessions.loggedOutSince('acme', { digest, since: 0 }), true)
    await sessions.prune(NOW, 1)
    t.equal(await sessions.recordToken('acme', digest, NOW), false, 'a record of that time stays')
    await sessions.prune(NOW + 1, 1)
    t.equal(await sessions.recordToken('acme', digest, NOW), true, 'an older one is pruned')
  })
}
