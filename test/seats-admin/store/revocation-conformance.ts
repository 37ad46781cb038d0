/** Requirements of revocations, of every store driver. */

import type { RevocationInput, Store, Writer } from '../../../seats-admin/index.ts'
import { MAX_RESTRICTED } from '../../../seats-admin/store/restriction-queries.ts'
import { MAX_NAMED } from '../../../seats-admin/store/revocation-store.ts'
import type { RevocationSubject } from '../../../seats-admin/model/revocation.ts'
import { soundChain } from './audit-chain.ts'
import {
  ADMIN,
  BEGINNING,
  block,
  column,
  done,
  key,
  MISSING,
  numbered,
  refused,
  seat,
  suite,
  writer,
} from './conformance.ts'
import { browserSession, family, hash, HOUR, NOW, proofOf, provider, RENEWAL } from './session-records.ts'

/** What a token may name. */
const STRANGE = ['a"b', 'nul\0', '\ud800', '__proto__', 'ä'.repeat(8192), ':', 'https://login.example|x', '']

export const inputOf = (
  subject: RevocationSubject,
  more: Partial<RevocationInput> = {},
): RevocationInput => ({
  ...{ subject, what: 'existing', until: null, reason: null, apiKeys: false },
  ...more,
})

export async function revoke(
  store: Store,
  subject: RevocationSubject,
  more: Partial<RevocationInput> = {},
  as = writer(),
) {
  return done(await store.revoke(as, inputOf(subject, more)))
}

export const restriction = async (store: Store, user: string, tenant = 'acme') => {
  const { value } = await store.restrictions(tenant)
  const { value: alone } = await store.userRestriction(tenant, user)
  const listed = value.users?.find((each) => each.user === user) ?? null
  if (value.users !== null && JSON.stringify(listed) !== JSON.stringify(alone.restriction))
    throw new Error('the two reads differ')
  return alone.restriction
}

export const seconds = (ms: number) => Math.floor(ms / 1000)

export const revocationConformance = suite((test) => {
  const owned = async (store: Store, owner: string | null, as = writer()) =>
    done(await store.createApiKey(as, { name: 'ci', seats: [], expiresAt: null, owner })).value

  test('a user: cutoff, sessions and owned API keys, of this user alone', async (t, store) => {
    const user = 'auth0|eve'
    const [one, two] = [browserSession({ user }), family({ user, expiresAt: NOW - 1 })]
    const others = [
      browserSession(),
      browserSession({ user, tenant: 'globex' }),
      browserSession({ user: `${user}.` }),
    ]
    for (const each of [one, two, ...others]) await store.sessions.create(each)
    const mine = await owned(store, user)
    const [none, theirs, elsewhere] = [
      await owned(store, null),
      await owned(store, 'ann'),
      await owned(store, user, writer(ADMIN, 1, 'globex')),
    ]
    const before = Date.now()
    const made = await revoke(store, { user }, { reason: 'stolen \0 laptop' })
    const { value } = made
    t.match(value, {
      tenant: 'acme',
      seq: made.seq,
      subject: { user },
      what: 'existing',
      until: null,
      reason: 'stolen \ufffd laptop',
      apiKeys: false,
      ended: { sessions: 2, apiKeys: 1 },
      keptKey: null,
    })
    t.ok(value.at >= before - HOUR && value.at <= Date.now() + HOUR)
    const ids = [one.id, two.id].toSorted()
    t.same(made.changes, [
      {
        tenant: 'acme',
        kind: 'revocation',
        key: JSON.stringify({ at: value.at, subject: { user }, listed: true }),
      },
      ...ids.map((id) => ({ tenant: 'acme', kind: 'session', key: id })),
      { tenant: 'acme', kind: 'api-key', key: mine.id },
    ])
    t.same(
      (
        await store.changesSince({
          seq: made.seq - 4,
          mark: (await store.changesSince(null)).changes?.at(-5)?.mark ?? 0,
        })
      ).changes,
      numbered(made),
    )
    for (const id of ids) {
      t.match((await store.sessions.readSession('acme', id)).value, { endedAt: value.at, revoked: true })
      t.equal(
        (await store.sessions.sessionById('acme', id))?.sealed,
        '',
        'without the tokens of the provider',
      )
    }
    for (const { tenant, id } of others)
      t.match((await store.sessions.readSession(tenant, id)).value, { endedAt: null, revoked: false })
    t.match((await store.apiKeyById('acme', mine.id)).value, { revokedAt: value.at, owner: user })
    for (const { tenant, id } of [none, theirs, elsewhere])
      t.equal((await store.apiKeyById(tenant, id)).value?.revokedAt, null)
    t.same(await restriction(store, user), { user, block: null, cutoff: seconds(value.at) })
    t.equal(await restriction(store, user, 'globex'), null, 'a user of the same name')
    t.equal(await restriction(store, 'ann'), null)
  })

  test('a user with `all`: also a block, in place of an earlier one', async (t, store) => {
    const until = Date.now() + HOUR
    const { value: first } = await block(store, 'eve')
    const made = await revoke(store, { user: 'eve' }, { what: 'all', until, reason: 'left' })
    t.same(made.changes.at(-1), { tenant: 'acme', kind: 'block', key: '"eve"' })
    const { data } = await store.listBlocks('acme', { limit: 10, after: null })
    t.match(data, [{ id: first.id, user: 'eve', until, reason: 'left', createdBy: 'alice' }])
    t.same(await restriction(store, 'eve'), { user: 'eve', block: { until }, cutoff: seconds(made.value.at) })
    done(await store.deleteBlock(writer(), first.id))
    t.match(
      await restriction(store, 'eve'),
      { block: null, cutoff: seconds(made.value.at) },
      'the cutoff stays',
    )
  })

  test('`all` until a time that is past by one clock alone: a block, which ends by two clocks', async (t, store) => {
    const now = Date.now() - 2 * HOUR
    const until = now + HOUR
    await revoke(store, { user: 'eve' }, { what: 'all', until }, writer(ADMIN, now))
    t.match(await restriction(store, 'eve'), { block: { until } })
  })

  test('an issuer: its cutoff alone', async (t, store) => {
    const issuer = 'https://login.example/realms/a'
    await store.sessions.create(browserSession({ user: `${issuer}|x` }))
    const made = await revoke(store, { issuer })
    t.match(made.value, { ended: { sessions: 0, apiKeys: 0 }, subject: { issuer } })
    t.equal(made.changes.length, 1)
    const { value } = await store.restrictions('acme')
    t.match(value, { users: [], issuers: { [issuer]: seconds(made.value.at) }, tenant: null })
    t.match((await store.restrictions('globex')).value, { issuers: {}, tenant: null })
  })

  test('a tenant: all sessions, and API keys if asked, but for the own key of the caller', async (t, store) => {
    const sessions = [browserSession(), family({ user: 'bob' }), browserSession({ createdAt: null })]
    for (const each of sessions) await store.sessions.create(each)
    const elsewhere = browserSession({ tenant: 'globex' })
    await store.sessions.create(elsewhere)
    const keys = [await owned(store, 'ann'), await owned(store, null)]
    const first = await revoke(store, { tenant: true })
    t.match(first.value, { ended: { sessions: 3, apiKeys: 0 }, keptKey: null })
    t.equal((await store.restrictions('acme')).value.tenant, seconds(first.value.at))
    t.equal((await store.restrictions('globex')).value.tenant, null)
    t.equal((await store.sessions.readSession('globex', elsewhere.id)).value?.endedAt, null)
    const own = keys[1]?.id ?? ''
    const as: Writer = { ...writer(), by: own, actor: { kind: 'api-key', name: null } }
    const second = await revoke(store, { tenant: true }, { apiKeys: true }, as)
    t.match(second.value, { ended: { sessions: 0, apiKeys: 1 }, keptKey: own, apiKeys: true })
    t.equal((await store.apiKeyById('acme', own)).value?.revokedAt, null)
    t.equal((await store.apiKeyById('acme', keys[0]?.id ?? '')).value?.revokedAt, second.value.at)
    const third = await revoke(store, { tenant: true }, { apiKeys: true })
    t.match(third.value, { ended: { sessions: 0, apiKeys: 1 }, keptKey: null }, 'from a session')
  })

  test('a session and an API key: these alone, and again without effect', async (t, store) => {
    const [session, other] = [family(), browserSession()]
    for (const each of [session, other]) await store.sessions.create(each)
    await seat(store, 'A')
    const [ci, cd] = [await key(store, ['A']), await key(store, ['A'])]
    const made = await revoke(store, { session: session.id })
    t.same(made.value.ended, { sessions: 1, apiKeys: 0 })
    t.match((await store.sessions.readSession('acme', session.id)).value, {
      endedAt: made.value.at,
      revoked: true,
    })
    t.equal((await store.sessions.readSession('acme', other.id)).value?.endedAt, null)
    const revoked = await revoke(store, { api_key: ci.id })
    t.same(revoked.value.ended, { sessions: 0, apiKeys: 1 })
    t.equal(done(await store.readApiKey('acme', ci.id, ADMIN)).revokedAt, revoked.value.at)
    t.equal(done(await store.readApiKey('acme', cd.id, ADMIN)).revokedAt, null)
    for (const subject of [{ session: session.id }, { api_key: ci.id }]) {
      const again = await revoke(store, subject)
      t.same([again.value.ended, again.changes.length], [{ sessions: 0, apiKeys: 0 }, 1])
    }
    t.equal(
      (await store.sessions.readSession('acme', session.id)).value?.endedAt,
      made.value.at,
      'the first time',
    )
    const head = await store.changesSince(null)
    for (const id of [MISSING, '', '\0', '\ud800', session.id.toLowerCase()]) {
      t.equal(refused(await store.revoke(writer(), inputOf({ session: id }))), 'session_not_found')
      t.equal(refused(await store.revoke(writer(), inputOf({ api_key: id }))), 'api_key_not_found')
      t.equal(refused(await store.countRevocation(writer(), inputOf({ session: id }))), 'session_not_found')
      t.equal(refused(await store.countRevocation(writer(), inputOf({ api_key: id }))), 'api_key_not_found')
    }
    const elsewhere = writer(ADMIN, 1, 'globex')
    t.equal(refused(await store.revoke(elsewhere, inputOf({ session: other.id }))), 'session_not_found')
    t.equal(refused(await store.revoke(elsewhere, inputOf({ api_key: cd.id }))), 'api_key_not_found')
    t.same(await store.changesSince(null), head, 'a refusal changes nothing')
  })

  test('a session that ended before is not revoked', async (t, store) => {
    const session = browserSession()
    await store.sessions.create(session)
    await store.sessions.end('acme', session.id, NOW)
    t.same((await revoke(store, { session: session.id })).value.ended, { sessions: 0, apiKeys: 0 })
    t.match((await store.sessions.readSession('acme', session.id)).value, { endedAt: NOW, revoked: false })
  })

  test('any text of a token, and users nobody knows', async (t, store) => {
    for (const user of STRANGE) {
      const made = await revoke(store, { user })
      t.same(made.value.ended, { sessions: 0, apiKeys: 0 })
      t.equal(
        (await restriction(store, user))?.cutoff,
        seconds(made.value.at),
        JSON.stringify(user).slice(0, 20),
      )
      const { data } = await store.listRevocations('acme', { limit: 9, after: null, subject: { user } })
      t.match(data, [{ id: made.value.id, subject: { user } }])
    }
    t.equal(await restriction(store, '\ud801'), null)
    t.equal((await store.restrictions('acme')).value.users?.length, STRANGE.length)
    t.same((await soundChain(t, store)).length, STRANGE.length)
  })

  test('T is the later of two clocks, and never goes back', async (t, store) => {
    const ahead = Date.now() + 24 * HOUR
    const [first, second] = [
      await revoke(store, { user: 'eve' }, {}, writer(ADMIN, ahead)),
      await revoke(store, { user: 'eve' }, {}, writer(ADMIN, 1)),
    ]
    t.ok(first.value.at >= ahead && first.value.at < ahead + HOUR)
    t.ok(Math.abs(second.value.at - Date.now()) < HOUR, 'the clock of the store')
    t.equal((await restriction(store, 'eve'))?.cutoff, seconds(first.value.at))
    const { data } = await store.listRevocations('acme', { limit: 9, after: null, subject: null })
    t.same(column(data, 'isInForce'), [true, true], 'the earlier one, too, by the later cutoff')
  })

  test('a session or key that is created afterwards passes', async (t, store) => {
    const made = await revoke(store, { user: 'eve' }, {}, writer(ADMIN, Date.now() + HOUR))
    const session = browserSession({ user: 'eve', createdAt: made.value.at - 5 })
    await store.sessions.create(session)
    const { id } = await owned(store, 'eve')
    t.match((await store.sessions.readSession('acme', session.id)).value, { endedAt: null, revoked: false })
    t.equal((await store.apiKeyById('acme', id)).value?.revokedAt, null)
  })

  test('the calls of sessions after a revocation', async (t, store) => {
    const { sessions } = store
    const [program, browser] = [family(), browserSession()]
    for (const each of [program, browser]) await sessions.create(each)
    await revoke(store, { tenant: true })
    const rotate = (proof = {}) =>
      sessions.rotate(provider(), program.id, { ...proofOf(program), ...proof }, hash())
    t.equal((await rotate()).outcome, 'revoked')
    t.equal((await rotate({ handle: hash() })).outcome, 'revoked', 'a replay, too')
    t.equal((await rotate({ family: hash() })).outcome, 'unknown')
    t.equal(await sessions.giveBack('acme', program.id, program.handleHash, program.handleHash, 'x'), false)
    t.equal(await sessions.claimRenewal('acme', browser.id, NOW, NOW + 1), null)
    t.equal(await sessions.renew('acme', browser.id, null, RENEWAL), null)
    t.equal(await sessions.renew('acme', program.id, program.handleHash, RENEWAL), null)
    t.ok(await sessions.end('acme', browser.id, NOW + 5))
    t.match(await sessions.sessionById('acme', browser.id), { revoked: true, sealed: '' }, 'it stays revoked')
    await t.resolves(sessions.create(browser), 'a repetition after a lost response')
    t.match(await sessions.sessionById('acme', browser.id), { revoked: true })
  })

  test('more sessions than changes: the notice stands for them', async (t, store) => {
    const user = 'eve'
    await many(store, MAX_NAMED, user)
    const made = await revoke(store, { user })
    t.equal(made.changes.length, 1 + MAX_NAMED)
    await many(store, MAX_NAMED + 1, user)
    const other = await revoke(store, { user })
    t.same([other.value.ended.sessions, other.changes.length], [MAX_NAMED + 1, 1])
    const notice = { at: other.value.at, subject: { user } }
    t.same(JSON.parse(other.changes[0]?.key ?? ''), notice)
    const page = { limit: 1, after: null, user, now: NOW }
    t.same((await store.listSessions('acme', page)).data, [])
    const entries = (await soundChain(t, store)).filter(({ action }) => action === 'session.end')
    t.equal(entries.length, 2 * MAX_NAMED + 1, 'an entry for each')
  })

  test('more API keys than changes: the notice stands for them', async (t, store) => {
    for (let at = 0; at < MAX_NAMED; at++) await owned(store, 'eve')
    await store.sessions.create(browserSession({ user: 'eve' }))
    await owned(store, 'eve')
    const made = await revoke(store, { user: 'eve' })
    t.same(made.value.ended, { sessions: 1, apiKeys: MAX_NAMED + 1 })
    t.same(
      made.changes.map(({ kind, key }) => [kind, JSON.parse(key)]),
      [['revocation', { at: made.value.at, subject: { user: 'eve' } }]],
    )
    const entries = (await soundChain(t, store)).filter(({ action }) => action === 'api_key.revoke')
    t.equal(entries.length, MAX_NAMED + 1, 'an entry for each')
  })

  test('more API keys than end at once', async (t, store) => {
    const ids: string[] = []
    for (let at = 0; at < 120; at++) ids.push((await owned(store, 'eve')).id)
    const made = await revoke(store, { user: 'eve' })
    t.same([made.value.ended.apiKeys, made.changes.length], [120, 121])
    t.same(column(made.changes.slice(1), 'key'), ids)
    const { data } = await store.listApiKeys('acme', { limit: 200, after: null, scope: ADMIN })
    t.ok(data.every(({ revokedAt }) => revokedAt === made.value.at))
    const entries = (await soundChain(t, store)).filter(({ action }) => action === 'api_key.revoke')
    t.same(
      entries.map(({ target }) => target.id),
      ids,
    )
  })

  test('a dry run: the counts, and a notice that changes nothing', async (t, store) => {
    const session = browserSession({ user: 'eve' })
    for (const each of [session, family({ user: 'eve' }), family()]) await store.sessions.create(each)
    const [mine, other] = [await owned(store, 'eve'), await owned(store, null)]
    const chain = await soundChain(t, store)
    const count = async (input: RevocationInput, as = writer()) =>
      done(await store.countRevocation(as, input))
    const counted = await count(inputOf({ user: 'eve' }, { what: 'all' }))
    t.match(counted, { ended: { sessions: 2, apiKeys: 1 }, keys: [mine.id], keptKey: null })
    const [change, ...others] = counted.committed.changes
    t.same([change?.kind, others.length], ['revocation', 0])
    t.match(JSON.parse(change?.key ?? ''), { subject: { user: 'eve' }, count: true, keys: [mine.id] })
    t.match(await count(inputOf({ tenant: true })), { ended: { sessions: 3, apiKeys: 0 }, keys: [] })
    const as: Writer = { ...writer(), by: other.id, actor: { kind: 'api-key', name: null } }
    const all = await count(inputOf({ tenant: true }, { apiKeys: true }), as)
    t.match(all, { ended: { sessions: 3, apiKeys: 1 }, keys: [mine.id], keptKey: other.id })
    t.match(await count(inputOf({ session: session.id })), { ended: { sessions: 1, apiKeys: 0 } })
    t.match(await count(inputOf({ api_key: mine.id })), {
      ended: { sessions: 0, apiKeys: 1 },
      keys: [mine.id],
    })
    t.match(await count(inputOf({ issuer: 'https://a.example' })), { ended: { sessions: 0, apiKeys: 0 } })
    t.equal(await restriction(store, 'eve'), null)
    t.equal((await store.sessions.readSession('acme', session.id)).value?.endedAt, null)
    t.same((await store.listRevocations('acme', { limit: 9, after: null, subject: null })).data, [])
    t.same(await soundChain(t, store), chain, 'the audit has no entry')
  })

  test('the audit: entries of what ended, and then the one of the revocation', async (t, store) => {
    const session = browserSession({ user: 'eve' })
    await store.sessions.create(session)
    const { id } = await owned(store, 'eve')
    const { value } = await revoke(store, { user: 'eve' }, { what: 'all', reason: 'left' })
    const entries = (await soundChain(t, store)).slice(1)
    const actions = ['block.create', 'session.end', 'api_key.revoke', 'revocation.create']
    t.same(column(entries, 'action'), actions)
    t.match(column(entries, 'target'), [
      { name: 'eve' },
      { id: session.id },
      { id },
      { kind: 'revocation', id: value.id, name: 'user:eve' },
    ])
    t.match(entries[2]?.after, { owner: 'eve' })
    t.strictSame(entries[3]?.before, null)
    t.strictSame(entries[3]?.after, {
      id: value.id,
      at: new Date(value.at).toISOString(),
      subject: { user: 'eve' },
      what: 'all',
      reason: 'left',
      ended: { sessions: 1, api_keys: 1 },
    })
    t.same(value.audit, { seq: entries[3]?.seq, hash: entries[3]?.hash })
  })

  test('revocations are kept, with the first answer', async (t, store) => {
    const subjects = [
      { user: 'eve' },
      { tenant: true },
      { issuer: 'https://a.example' },
      { user: 'eve' },
    ] as const
    const made = []
    for (const subject of subjects) made.push((await revoke(store, subject)).value)
    const [first] = made
    if (first === undefined) throw new Error('none was made')
    t.strictSame(await store.revocationById('acme', first.id), { ...first, answer: null, isInForce: true })
    for (const answer of ['{"x":"\\ud800"}', '{"y":2}'])
      await store.answerRevocation('acme', first.id, answer)
    await store.answerRevocation('globex', first.id, 'x')
    await store.answerRevocation('acme', MISSING, 'x')
    t.match(await store.revocationById('acme', first.id), { answer: '{"x":"\\ud800"}' })
    for (const id of [MISSING, '', '\0', 'z']) t.equal(await store.revocationById('acme', id), null)
    t.equal(await store.revocationById('globex', first.id), null)
    const list = (limit: number, after: string | null = null, subject: RevocationSubject | null = null) =>
      store.listRevocations('acme', { limit, after, subject })
    const ids = column(made, 'id').toReversed()
    const page = await list(3)
    t.same([column(page.data, 'id'), page.hasMore], [ids.slice(0, 3), true])
    const rest = await list(3, ids[2])
    t.same([column(rest.data, 'id'), rest.hasMore], [ids.slice(3), false])
    t.same(column((await list(9, null, { user: 'eve' })).data, 'id'), [ids[0], ids[3]])
    t.same(column((await list(9, ids[0], { user: 'eve' })).data, 'id'), [ids[3]])
    t.same((await list(9, null, { user: 'ann' })).data, [])
  })

  test('a page of revocations ends where the answers are large', async (t, store) => {
    for (let at = 0; at < 4; at++) {
      const { id } = (await revoke(store, { tenant: true })).value
      await store.answerRevocation('acme', id, JSON.stringify('x'.repeat(200_000)))
    }
    const page = await store.listRevocations('acme', { limit: 100, after: null, subject: null })
    t.same([page.data.length, page.hasMore], [2, true])
  })

  test('of more restrictions than a process keeps, each user is read alone', async (t, store) => {
    for (let at = 0; at < MAX_RESTRICTED - 1; at++) await block(store, `user ${at}`)
    await revoke(store, { user: 'user 7' })
    await revoke(store, { user: 'eve' })
    const { value } = await store.restrictions('acme')
    t.equal(value.users?.length, MAX_RESTRICTED, 'a block and a cutoff of one user count once')
    await revoke(store, { user: 'one more' })
    await revoke(store, { issuer: 'https://a.example' })
    const whole = (await store.restrictions('acme')).value
    t.match(whole, { users: null, issuers: { 'https://a.example': Number }, tenant: null })
    t.match(await restriction(store, 'user 7'), { block: { until: null }, cutoff: Number })
    t.match(await restriction(store, 'one more'), { block: null, cutoff: Number })
    t.equal(await restriction(store, 'ann'), null)
  })

  test('restrictions have the position of their reading', async (t, store) => {
    t.match(await store.restrictions('acme'), {
      ...BEGINNING,
      value: { users: [], issuers: {}, tenant: null },
    })
    const { seq, mark, value } = await revoke(store, { tenant: true })
    t.match(await store.restrictions('acme'), { seq, mark, value: { tenant: seconds(value.at) } })
    t.match(await store.userRestriction('acme', 'ann'), { seq, mark, value: { restriction: null } })
  })

  test('a block of the owner ends the administration by a key, as a revocation does', async (t, store) => {
    await seat(store, 'admin', ['admin'], ['*'])
    const administered = (blocked: string[] = []) =>
      store.isAdministered('acme', { space: 'admin', now: 1, blocked })
    const { id } = done(
      await store.createApiKey(writer(), { name: 'k', seats: ['admin'], expiresAt: null, owner: 'eve' }),
    ).value
    t.equal(await administered(), true)
    t.equal(await administered(['ann']), true)
    t.equal(await administered(['eve']), false)
    t.equal((await block(store, 'ann')).keyAdministers, true)
    const { value, keyAdministers } = await block(store, 'eve')
    t.equal(keyAdministers, false)
    t.equal(await administered(), false)
    const create = async (name: string) =>
      done(await store.createSeat(writer(), { name, spaces: [], permissions: [] })).keyAdministers
    t.equal(await create('x'), false)
    done(await store.deleteBlock(writer(), value.id))
    t.equal(await create('y'), true)
    await revoke(store, { user: 'eve' })
    t.equal(await administered(), false)
    t.match((await store.apiKeyById('acme', id)).value, { revokedAt: Number })
  })

  test('API keys of an owner in pages', async (t, store) => {
    await seat(store, 'A', ['one'], ['a:b'])
    const make = async (owner: string | null, seats = ['A']) =>
      done(await store.createApiKey(writer(), { name: 'k', seats, expiresAt: null, owner })).value.id
    const own = [await make('eve\0'), await make('eve\0', []), await make('eve\0')]
    for (const owner of ['eve', null]) await make(owner)
    const list = async (more: object) => {
      const page = { limit: 2, after: null, scope: ADMIN, owner: 'eve\0', ...more }
      return column((await store.listApiKeys('acme', page)).data, 'id')
    }
    t.same(await list({}), own.slice(0, 2))
    t.same(await list({ after: own[1] }), own.slice(2))
    t.same(await list({ scope: { ...ADMIN, space: 'one', admin: false } }), [own[0], own[2]])
    t.same(await list({ grant: { permission: 'a:b', space: 'one', now: 1 } }), [own[0], own[2]])
    t.same(await list({ owner: 'ann' }), [])
    t.equal((await list({ owner: null, limit: 9 })).length, 5)
  })
})

/** Creates sessions of a user, some at a time. */
export async function many(store: Store, count: number, user: string, tenant = 'acme'): Promise<void> {
  for (let at = 0; at < count; at += 100)
    await Promise.all(
      Array.from({ length: Math.min(100, count - at) }, () =>
        store.sessions.create(browserSession({ user, tenant })),
      ),
    )
}
