/** What identity providers request of every store driver: each token takes effect once, and only tokens become void. */

import { isRefusal, isTokenState, type Store } from '../../../seats-admin/index.ts'
import { ALL_ENTRIES } from './audit-chain.ts'
import { block, column, done, key, signedIn, suite, writer } from './conformance.ts'
import { inputOf, restriction, seconds } from './revocation-conformance.ts'
import { scimUser } from './scim-records.ts'
import { browserSession, family, hash, HOUR, NOW, proofOf, provider, RENEWAL } from './session-records.ts'

export const providerRequestConformance = suite((test) => {
  const request = (token: Uint8Array | null, logout: Uint8Array | null = null) => ({ token, logout })
  const revoke = (store: Store, user: string, of = request(hash()), more = {}, as = writer()) =>
    store.revokeForProvider(as, inputOf({ user }, more), of)
  const made = async (...of: Parameters<typeof revoke>) => {
    const written = await revoke(...of)
    if (isTokenState(written) || isRefusal(written)) throw new Error(JSON.stringify(written))
    return written
  }

  test('a token takes effect once: begun for a few seconds, then again, until it is used', async (t, store) => {
    const token = hash()
    const { value } = await made(store, 'eve', request(token, hash()))
    t.same(await revoke(store, 'eve', request(token)), { token: 'begun' })
    t.same(await store.liftBlock(writer(), { user: 'eve', origin: 'events' }, { token }), { token: 'begun' })
    const later = { ...writer(), now: Date.now() + HOUR }
    const again = await made(store, 'eve', request(token), {}, later)
    t.not(again.value.id, value.id, 'its sender may not have been told')
    t.equal(await store.sessions.recordToken('acme', token, Date.now()), true)
    t.same(await revoke(store, 'eve', request(token), {}, later), { token: 'used' })
    t.same(await store.liftBlock(later, { user: 'eve', origin: 'events' }, { token }), { token: 'used' })
    t.ok(await made(store, 'eve', request(hash())), 'another token')
    const { data } = await store.listRevocations('acme', { limit: 9, after: null, subject: null })
    t.equal(data.length, 3)
  })

  test('of many at once one takes effect', async (t, store) => {
    const token = hash()
    const all = await Promise.all(Array.from({ length: 8 }, () => revoke(store, 'eve', request(token))))
    t.equal(all.filter((each) => !isTokenState(each)).length, 1)
    t.same(
      all.filter(isTokenState),
      Array.from({ length: 7 }, () => ({ token: 'begun' })),
    )
  })

  test('a refusal uses nothing up', async (t, store) => {
    const token = hash()
    const input = inputOf({ session: 'A'.repeat(22) })
    t.match(await store.revokeForProvider(writer(), input, request(token)), { refused: 'session_not_found' })
    t.ok(await made(store, 'eve', request(token)))
  })

  test('the logout is recorded with the revocation', async (t, store) => {
    const logout = hash()
    const { value } = await made(store, 'eve', request(hash(), logout))
    const since = (at: number) => store.sessions.loggedOutSince('acme', { digest: logout, since: at })
    t.same([await since(value.at), await since(value.at + 1)], [true, false])
  })

  test('a block is lifted by its origin, and a missing one is no fault', async (t, store) => {
    const { value: events } = await block(store, 'eve', null, { origin: 'events' })
    const { value: admin } = await block(store, 'eve')
    const lift = async () => store.liftBlock(writer(), { user: 'eve', origin: 'events' }, { token: hash() })
    t.match(await lift(), { value: { id: events.id }, changes: [{ kind: 'block', key: '"eve"' }] })
    t.same((await store.listBlocks('acme', { limit: 9, after: null })).data, [admin])
    t.match(await lift(), { value: null, changes: [] })
    const { data } = await store.audit.list('acme', { ...ALL_ENTRIES, limit: 1 })
    t.match(data, [{ action: 'block.delete', target: { id: events.id } }])
  })

  test('of what is said about an account, the newest counts, whatever arrives last', async (t, store) => {
    const of = (saidAt: number, token: Uint8Array | null = hash()) => ({ token, saidAt })
    const disable = (saidAt: number, token?: Uint8Array) =>
      made(store, 'eve', { ...of(saidAt, token), logout: null }, { what: 'all', origin: 'events' })
    const enable = async (saidAt: number, user = 'eve') =>
      store.liftBlock(writer(), { user, origin: 'events' }, of(saidAt))
    const origins = async () =>
      (await store.listBlocks('acme', { limit: 9, after: null })).data.map(({ origin }) => origin)
    const token = hash()
    t.match(await disable(10, token), { value: { what: 'all' } })
    t.match(await enable(20), { value: { origin: 'events' } })
    const session = browserSession({ user: 'eve' })
    await store.sessions.create(session)
    const again = { logout: null, saidAt: 10, token }
    const later = { ...writer(), now: Date.now() + HOUR }
    const late = await made(store, 'eve', again, { what: 'all', origin: 'events' }, later)
    t.match(late, { value: { what: 'existing', ended: { sessions: 1 } } }, 'what was issued ends')
    t.equal(late.value.origin, undefined)
    t.same(await origins(), [])
    await block(store, 'eve')
    await disable(30)
    t.match(await enable(29), { value: null, changes: [] })
    t.same(await origins(), ['admin', 'events'])
    t.match(await enable(30), { value: { origin: 'events' } }, 'of the same time, the one that arrives later')
    t.match(await disable(30), { value: { what: 'all' } })
    await enable(31, 'ann')
    t.match(await enable(32), { value: { origin: 'events' } }, 'each user has an order of its own')
    await enable(50)
    t.match(await disable(49), { value: { what: 'existing' } }, 'also if there was no block to lift')
    t.match(await made(store, 'eve', request(hash()), { what: 'all' }), { value: { what: 'all' } })
  })

  test('the users of an address, without regard to the case of ASCII letters', async (t, store) => {
    const record = (sub: string, email: string | null, tenant = 'acme') =>
      store.recordSignIn(tenant, { ...signedIn(sub), email }, [])
    await record('ann', 'Shared@Acme.example')
    await record('bob', 'shared@acme.example')
    await record('eve', 'shared@acme.example.org')
    await record('zoe', null)
    await record('dan', 'ÄRA@acme.example')
    await record('ann', 'shared@acme.example', 'globex')
    t.same(await store.usersByEmail('acme', 'SHARED@acme.EXAMPLE', 9), ['ann', 'bob'])
    t.same(await store.usersByEmail('acme', 'shared@acme.example', 1), ['ann'])
    t.same(await store.usersByEmail('acme', 'shared@acme.%', 9), [])
    t.same(
      await store.usersByEmail('acme', 'äRA@acme.example', 9),
      [],
      'other letters are compared as they are',
    )
    t.same(await store.usersByEmail('acme', '\0', 9), [])
    await store.recordSignIn(
      'acme',
      { ...signedIn('bob'), email: 'bob@acme.example', at: Date.now() + HOUR },
      [],
    )
    t.same(await store.usersByEmail('acme', 'shared@acme.example', 9), ['ann'], 'that of the latest sign-in')
  })

  test('a known user has signed in, owns a key in force, or has a session', async (t, store) => {
    const known = async (...subs: string[]) => Promise.all(subs.map((sub) => store.isKnownUser('acme', sub)))
    t.same(await known('ann', 'bob', 'eve', '\0', ''), [false, false, false, false, false])
    await store.recordSignIn('acme', signedIn('ann'), [])
    const owned = { name: 'ci', seats: [], expiresAt: null, owner: 'bob' }
    const { id } = done(await store.createApiKey(writer(), owned)).value
    const session = family({ user: 'eve' })
    await store.sessions.create(session)
    await key(store, [])
    t.same(await known('ann', 'bob', 'eve', 'alice'), [true, true, true, false])
    t.equal(await store.isKnownUser('globex', 'ann'), false)
    done(await store.revokeApiKey(writer(), id))
    await store.sessions.end('acme', session.id, NOW)
    t.same(await known('ann', 'bob', 'eve'), [true, false, false])
  })

  test('the users of a SCIM id, by each mode', async (t, store) => {
    const ann = await scimUser(store, 'ann', { externalId: 'ext-ann' })
    t.same(await store.usersOfScimId('acme', 'externalId', ann.id), ['ext-ann'])
    t.same(await store.usersOfScimId('acme', 'userName', ann.id), ['ann'])
    t.same(await store.usersOfScimId('acme', 'claim', ann.id), [], 'who has not signed in')
    for (const sub of ['one', 'two']) {
      await store.recordSignIn('acme', signedIn(sub), [])
      await store.recordScimMember(writer(), sub, 'ext-ann')
    }
    t.same(await store.usersOfScimId('acme', 'claim', ann.id), ['one', 'two'])
    t.same(await store.usersOfScimId('globex', 'externalId', ann.id), [])
    t.same(await store.usersOfScimId('acme', 'externalId', 'ext-ann'), [])
    t.same(await store.usersOfScimId('acme', 'externalId', '\0'), [])
  })

  test('tokens alone: sessions and keys stay, and a session is to be renewed', async (t, store) => {
    const { sessions } = store
    const [browser, program, other] = [
      browserSession({ user: 'eve' }),
      family({ user: 'eve' }),
      browserSession({ user: 'ann' }),
    ]
    for (const each of [browser, program, other]) await sessions.create(each)
    const owned = { name: 'ci', seats: [], expiresAt: null, owner: 'eve' }
    const { id } = done(await store.createApiKey(writer(), owned)).value
    const written = await made(store, 'eve', request(hash()), { what: 'tokens' })
    const { at, ended } = written.value
    t.same(ended, { sessions: 0, apiKeys: 0 })
    t.same(column(written.changes, 'kind').toSorted(), ['revocation', 'session', 'session'])
    for (const each of [browser, program])
      t.match(await sessions.sessionById('acme', each.id), {
        ...{ endedAt: null, revoked: false, renewAt: 0, voidUntil: at, sealed: each.sealed },
      })
    t.match(await sessions.sessionById('acme', other.id), { renewAt: other.renewAt, voidUntil: 0 })
    t.equal((await store.apiKeyById('acme', id)).value?.revokedAt, null)
    t.same(await restriction(store, 'eve'), { user: 'eve', block: null, cutoff: seconds(at) })
    t.match(await store.revocationById('acme', written.value.id), { what: 'tokens', isInForce: true })

    t.equal(await sessions.renew('acme', browser.id, null, RENEWAL), null, 'asked for before')
    t.match(await sessions.sessionById('acme', browser.id), { renewAt: 0, hashPerm: browser.hashPerm })
    t.ok(await sessions.renew('acme', browser.id, null, { ...RENEWAL, voidUntil: at }))
    t.match(await sessions.sessionById('acme', browser.id), {
      renewAt: RENEWAL.renewAt,
      voidUntil: at,
    })
    await made(store, 'eve', request(hash()), { what: 'tokens' }, { ...writer(), now: at - HOUR })
    const { voidUntil = 0 } = (await sessions.sessionById('acme', browser.id)) ?? {}
    t.ok(voidUntil > at, 'each event leaves a later time')
    t.equal(await sessions.renew('acme', browser.id, null, { ...RENEWAL, voidUntil: at }), null)
    const next = hash()
    t.match(await sessions.rotate(provider(), program.id, proofOf(program), next), {
      outcome: 'rotated',
      session: { voidUntil },
    })
    t.equal(await sessions.renew('acme', program.id, next, RENEWAL), null)
  })

  test('used tokens are kept for a week longer than sessions', async (t, store) => {
    const [old, young] = [hash(), hash()]
    const before = 100 * 24 * HOUR
    const week = 7 * 24 * HOUR
    await store.sessions.recordToken('acme', old, before - week - 1)
    await store.sessions.recordToken('acme', young, before - week)
    await store.sessions.prune(before, 10)
    const has = (digest: Uint8Array) => store.sessions.loggedOutSince('acme', { digest, since: 0 })
    t.same([await has(old), await has(young)], [false, true])
  })
})
