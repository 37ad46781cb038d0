/** Revocations at one gateway beside sign-ins, renewals and other revocations at another. For each driver. */

import { column, done, writer } from './conformance.ts'
import { restriction, revoke, seconds } from './revocation-conformance.ts'
import {
  browserSession,
  family,
  hash,
  HOUR,
  NOW,
  proofOf,
  provider,
  RENEWAL,
  type sessionTest,
} from './session-records.ts'

export function sessionRevocations(test: ReturnType<typeof sessionTest>): void {
  test('a revocation and sign-ins at once: what it has ended is what was created before', async (t, one, other) => {
    for (let round = 0; round < 20; round++) {
      const [user, tenant] = [`user ${round}`, `tenant-${round}`]
      const make = () => (round % 3 === 0 ? family : browserSession)({ user, tenant })
      const [before, after] = [make(), make()]
      const during = Array.from({ length: 5 }, make)
      await one.sessions.create(before)
      const subject = round % 2 === 0 ? { user } : ({ tenant: true } as const)
      const as = writer(undefined, Date.now(), tenant)
      const [made] = await Promise.all([
        revoke(other.store, subject, {}, as),
        ...during.map((each) => one.sessions.create(each)),
      ])
      await one.sessions.create(after)
      const isRevoked = async ({ id }: { id: string }) =>
        (await other.sessions.readSession(tenant, id)).value?.revoked === true
      t.strictSame([await isRevoked(before), await isRevoked(after)], [true, false], `round ${round}`)
      const ended = (await Promise.all(during.map(isRevoked))).filter(Boolean).length
      t.equal(made.value.ended.sessions, 1 + ended)
      t.equal(made.changes.length, 2 + ended)
    }
  })

  test('a revocation beside the uses and renewals of its session: it has ended for good', async (t, one, other) => {
    for (let round = 0; round < 10; round++) {
      const [program, browser] = [await one.created(family()), await one.created(browserSession())]
      const next = hash()
      await Promise.all([
        one.rotate(program, {}, next),
        one.claim(browser),
        revoke(other.store, { tenant: true }),
        other.giveBack(program, next, program.handleHash, 'never again'),
        one.renew(program, next, { ...RENEWAL, sealed: 'never again' }),
        other.renew(browser, null, { ...RENEWAL, sealed: 'never again' }),
      ])
      for (const session of [program, browser])
        t.match(await one.stored(session), { revoked: true, sealed: '' })
      for (const handle of [next, program.handleHash ?? hash()])
        t.equal(await other.use(program, { handle }), 'revoked')
      t.equal(await one.renew(browser, null), null)
    }
  })

  test('a revocation and the end of its session at once: the first of them counts', async (t, one, other) => {
    for (let round = 0; round < 10; round++) {
      const session = await one.created(browserSession({ user: `user ${round}` }))
      const [made] = await Promise.all([
        revoke(other.store, { session: session.id }),
        one.end(session, NOW),
        one.sessions.endSome(provider(), { user: session.user }, 9),
      ])
      const found = await one.read(session)
      t.equal(found?.revoked, made.value.ended.sessions === 1)
      t.equal(found?.endedAt, found?.revoked === true ? made.value.at : NOW)
    }
  })

  test('two revocations at once: T never goes back, and each is kept', async (t, one, other) => {
    for (let round = 0; round < 10; round++) {
      const user = `user ${round}`
      const at = (ahead: number) => writer(undefined, Date.now() + ahead * HOUR)
      const made = await Promise.all([
        revoke(one.store, { user }, {}, at(2)),
        revoke(other.store, { user }, { what: 'all' }, at(0)),
        revoke(one.store, { tenant: true }, {}, at(1)),
        revoke(other.store, { user }, {}, at(1)),
      ])
      const latest = Math.max(...made.filter((_, place) => place !== 2).map(({ value }) => value.at))
      t.equal((await restriction(one.store, user))?.cutoff, seconds(latest))
      const { data } = await other.store.listRevocations('acme', { limit: 4, after: null, subject: null })
      const ids = made.map(({ value }) => value.id).toSorted()
      t.same(column(data, 'id').toSorted(), ids)
      t.ok(data.every(({ isInForce }) => isInForce))
    }
  })

  test('an API key of a user while the user is revoked: revoked, or created after it', async (t, one, other) => {
    for (let round = 0; round < 10; round++) {
      const user = `user ${round}`
      const key = { name: 'k', seats: [], expiresAt: null, owner: user }
      const [made, result] = await Promise.all([
        revoke(other.store, { user }),
        one.store.createApiKey(writer(), key),
      ])
      const created = done(result)
      const revokedAt = (await other.store.apiKeyById('acme', created.value.id)).value?.revokedAt
      t.equal(revokedAt, created.seq < made.seq ? made.value.at : null)
    }
  })

  test('a replay and a revocation at once: the family has ended once', async (t, one, other) => {
    for (let round = 0; round < 10; round++) {
      const session = await one.created(family({ user: `user ${round}` }))
      const [rotation, made] = await Promise.all([
        one.sessions.rotate(provider(), session.id, { ...proofOf(session), handle: hash() }, hash()),
        revoke(other.store, { user: session.user }),
      ])
      const isFirst = rotation.outcome === 'replayed'
      if (!isFirst) t.equal(rotation.outcome, 'revoked')
      t.equal(made.value.ended.sessions, isFirst ? 0 : 1)
      t.equal((await one.read(session))?.revoked, !isFirst)
    }
  })
}
