/** Ends of sessions in the audit, on every driver: by the provider, or by a replayed refresh token. */

import type { Writer } from '../../../seats-admin/index.ts'
import type { AuditPage } from '../../../seats-admin/store/audit-store.ts'
import { ALL_ENTRIES, chainOf, soundChain, verified } from './audit-chain.ts'
import { ADMIN, column, done, seat, suite, writer } from './conformance.ts'
import { browserSession, family, hash, HOUR, NOW, proofOf, provider } from './session-records.ts'

/** By a request. */
const asked = (requestId: string, now = NOW) => provider(now, { requestId })

export const sessionAuditConformance = suite((test) => {
  const { by: issuer } = provider()
  const actor = { kind: 'provider', id: issuer, name: 'login.acme.example' }
  const time = (ms: number) => new Date(ms).toISOString()

  test('each session that a logout at the provider ends has its entry', async (t, store) => {
    const { sessions } = store
    const providerSession = hash()
    const own = [browserSession({ providerSession, email: null }), family({ providerSession })]
    for (const each of own) await sessions.create(each)
    await sessions.create(browserSession())
    const ended = await sessions.endSome(asked('r1'), { providerSession }, 10)
    const [one, other] = own.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    t.same(column(ended.value, 'id'), [one?.id, other?.id])
    t.same(column(ended.value, 'user'), [one?.user, other?.user])
    t.match(await sessions.endSome(asked('r2'), { providerSession }, 10), { changes: [], value: [] })
    const entries = await soundChain(t, store)
    for (const [at, session] of [one, other].entries()) {
      const { id = '', user = '', email, cookieHash } = session ?? {}
      const kind = cookieHash === null ? 'program' : 'browser'
      const times = { created_at: time(NOW - HOUR), expires_at: time(NOW + 8 * HOUR) }
      const before = { id, user, ...(email === null ? {} : { email }), kind, ...times }
      t.match(entries[at], {
        ...{ seq: at + 1, at: time(NOW), tenant: 'acme', space: 'admin', request_id: 'r1' },
        action: 'session.end',
        target: { kind: 'session', id, name: user },
      })
      t.strictSame(entries[at]?.actor, actor)
      t.strictSame([entries[at]?.before, entries[at]?.after], [before, { ...before, ended_at: time(NOW) }])
    }
    t.equal(entries.length, 2)
  })

  test('a replayed refresh token ends its session with an entry; other uses have none', async (t, store) => {
    const session = family()
    await store.sessions.create(session)
    const use = (proof: ReturnType<typeof proofOf>, as: Writer) =>
      store.sessions.rotate(as, session.id, proof, hash())
    t.equal((await use(proofOf(session), asked('r1'))).outcome, 'rotated')
    t.equal((await use({ ...proofOf(session), family: hash() }, asked('r2'))).outcome, 'unknown')
    t.equal((await use(proofOf(session), asked('r3', NOW + 9 * HOUR))).outcome, 'expired')
    t.same(await chainOf(store), [])
    t.match(await use(proofOf(session), asked('r4', NOW + 1)), { outcome: 'replayed', user: session.user })
    t.equal((await use(proofOf(session), asked('r5', NOW + 2))).outcome, 'ended')
    const entries = await soundChain(t, store)
    t.match(entries, [
      { action: 'session.end', actor, request_id: 'r4', target: { id: session.id, name: session.user } },
    ])
    t.equal(entries.length, 1)
  })

  test('a session that the provider ends has one entry, one that its user ends none', async (t, store) => {
    const { sessions } = store
    const [refused, out, both] = [family(), browserSession(), browserSession()]
    for (const each of [refused, out, both]) await sessions.create(each)
    t.ok(await sessions.end('acme', out.id, NOW))
    t.match(await sessions.endByProvider(provider(), refused.id), { changes: [{ key: refused.id }] })
    t.ok(await sessions.end('acme', both.id, NOW))
    t.match(
      await sessions.endByProvider(asked('r', NOW + 5), both.id),
      { changes: [{ key: both.id }] },
      'an ended one is announced again',
    )
    t.equal(await sessions.endByProvider(provider(), 'absent'), null)
    t.equal(await sessions.endByProvider(provider(), '\0'), null)
    for (const { id } of [refused, out, both])
      t.match(await sessions.sessionById('acme', id), { endedAt: NOW, sealed: '' })
    const entries = await soundChain(t, store)
    t.match(entries, [{ action: 'session.end', actor, request_id: null, target: { id: refused.id } }])
    t.equal(entries.length, 1)
  })

  test('entries of a provider are listed, filtered and deleted as others', async (t, store) => {
    const session = family({ user: '\ud800' })
    await store.sessions.create(session)
    await seat(store, 'S', [], [], writer(ADMIN, NOW))
    await store.sessions.endSome(provider(), { user: '\ud800' }, 10)
    done(await store.endSession(writer(ADMIN, NOW + 5), session.id))
    const seen = async (filter: Partial<AuditPage>) =>
      (await store.audit.list('acme', { ...ALL_ENTRIES, ...filter })).data.map(({ seq }) => seq)
    t.same(await seen({ actor: issuer }), [2])
    t.same(await seen({ actor: 'login.acme.example' }), [2])
    t.same(await seen({ action: 'session.end' }), [3, 2])
    t.same(await seen({ target: session.id }), [3, 2])
    t.same(await verified(store), [])
    t.equal(await store.audit.prune(NOW + 1, 100), 2)
    t.same(await seen({}), [3])
    t.same(await verified(store), [])
  })
})
