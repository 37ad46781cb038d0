/** Ends of sessions at the provider, on every driver. */

import { column } from './conformance.ts'
import {
  atOnce,
  browserSession,
  family,
  hash,
  HOUR,
  NOW,
  provider,
  type sessionTest,
} from './session-records.ts'

const WEEK = 7 * 24 * HOUR

export function sessionEnds(test: ReturnType<typeof sessionTest>): void {
  test('endSome: the sessions of one session at the provider', async (t, { sessions, feed }) => {
    const providerSession = hash()
    const own = [browserSession({ providerSession }), family({ providerSession, expiresAt: NOW - 1 })]
    const others = [
      browserSession({ providerSession: hash() }),
      browserSession(),
      browserSession({ providerSession, tenant: 'globex' }),
    ]
    for (const each of [...own, ...others]) await sessions.create(each)
    const committed = await sessions.endSome(provider(), { providerSession }, 10)
    const ids = column(own, 'id').toSorted()
    t.same(column(committed.changes, 'key').toSorted(), ids, 'expired ones too')
    t.same((await feed()).toSorted(), ids, 'the feed has each of them')
    for (const { tenant, id } of own)
      t.match(await sessions.sessionById(tenant, id), { endedAt: NOW, sealed: '' })
    for (const { tenant, id } of others)
      t.equal((await sessions.sessionById(tenant, id))?.endedAt, null, 'others go on')
    const none = { seq: committed.seq, mark: committed.mark, changes: [], value: [] }
    t.same(await sessions.endSome(provider(NOW + 1), { providerSession }, 10), none, 'none is left')
    t.equal((await sessions.sessionById('acme', own[0]?.id ?? ''))?.endedAt, NOW)
  })

  test('endSome: all sessions of a user, in limited batches', async (t, { sessions }) => {
    for (const user of ['alice', '\ud800', "a' OR 1=1 --", 'x'.repeat(255)]) {
      const own = [family, browserSession, family, browserSession, family].map((make) => make({ user }))
      const other = browserSession({ user: `${user}.` })
      for (const each of [...own, other]) await sessions.create(each)
      const counts: number[] = []
      for (;;) {
        const committed = await sessions.endSome(provider(), { user }, 2)
        if (committed.value.length === 0) break
        counts.push(committed.changes.length)
      }
      t.same(counts, [2, 2, 1])
      for (const { id } of own) t.equal((await sessions.sessionById('acme', id))?.endedAt, NOW)
      t.equal((await sessions.sessionById('acme', other.id))?.endedAt, null)
    }
  })

  test('endSome: ended sessions cannot be used', async (t, { sessions, created, use, renew }) => {
    const session = await created(family({ user: 'bob' }))
    await sessions.endSome(provider(), { user: 'bob' }, 10)
    t.equal(await use(session), 'ended')
    t.equal(await renew(session, session.handleHash), null)
  })

  test('logouts: the latest record counts, by tenant', async (t, { sessions }) => {
    const [digest, other] = [hash(), hash()]
    const known = { digest, since: NOW }
    const later = { digest, since: NOW + 1 }
    const none = { digest: other, since: 0 }
    const out = (...of: Parameters<typeof sessions.loggedOutSince>) => sessions.loggedOutSince(...of)
    t.equal(await out('acme', { digest, since: 0 }), false)
    await sessions.recordLogout('acme', digest, NOW)
    await sessions.recordLogout('acme', digest, NOW - 5)
    t.equal(await out('acme', known), true)
    t.equal(await out('acme', later), false)
    t.equal(await out('acme', none), false)
    t.equal(await out('globex', { digest, since: 0 }), false)
    t.equal(await out('acme', none, known), true, 'one of two')
    t.equal(await out('acme', known, none), true)
    t.equal(await out('acme', none, later), false)
    t.equal(await out('acme', { ...none, since: NOW + 9 }, null), false)
    await sessions.recordLogout('acme', digest, NOW + 5)
    t.equal(await out('acme', { digest, since: NOW + 5 }), true)
  })

  test('logouts: a token is recorded once, also by many at once', async (t, one, other) => {
    const { sessions } = one
    const digest = hash()
    const all = await atOnce([one, other], 20, (each) => each.sessions.recordToken('acme', digest, NOW))
    t.equal(all.filter((first) => first).length, 1)
    t.equal(await sessions.recordToken('globex', digest, NOW), true)
    t.equal(await sessions.loggedOutSince('acme', { digest, since: 0 }), true)
    await sessions.prune(NOW + WEEK, 1)
    t.equal(await sessions.recordToken('acme', digest, NOW), false, 'a record of that time stays')
    await sessions.prune(NOW + WEEK + 1, 1)
    t.equal(await sessions.recordToken('acme', digest, NOW), true, 'an older one is pruned')
  })
}
