/** Revocations that a restored store gets again from their receipts, of every store driver. */

import type { RevocationReceipt } from '../../../seats-admin/index.ts'
import type { Revocation } from '../../../seats-admin/model/revocation.ts'
import { soundChain } from './audit-chain.ts'
import { block, column, done, key, MISSING, seat, suite, writer } from './conformance.ts'
import { inputOf, restriction, revoke, seconds } from './revocation-conformance.ts'
import { browserSession, family, HOUR } from './session-records.ts'

const T = Date.now() - HOUR

const ID = '01JZ000000000000000000000'

/** A receipt from another copy of the store. */
function receipt(at: number, more: Partial<RevocationReceipt>): RevocationReceipt {
  return {
    ...inputOf({ tenant: true }),
    id: `${ID}${at % 10}`,
    at: T + at,
    keptKey: null,
    answer: `{"at":${at}}`,
    ...more,
  }
}

export const receiptConformance = suite((test) => {
  const as = { ...writer(), by: 'revoke', actor: { kind: 'command', name: null } } as const

  test('what was created up to T ends, with the id, the time and the reason of the receipt', async (t, store) => {
    const make = (createdAt: number | null, user = 'eve') => browserSession({ user, createdAt })
    const [old, older, later, other] = [make(T + 1), make(null), make(T + 2), make(T, 'ann')]
    for (const each of [old, older, later, other]) await store.sessions.create(each)
    const keyAt = async (now: number, owner: string) =>
      done(await store.createApiKey(writer(undefined, now), { name: 'k', seats: [], expiresAt: null, owner }))
        .value.id
    const keys = [await keyAt(T + 1, 'eve'), await keyAt(T + 2, 'eve'), await keyAt(T, 'ann')]
    const one = receipt(1, { subject: { user: 'eve' }, reason: 'stolen' })
    const made = done(await store.applyReceipts(as, [one]))
    const { id, at, subject } = one
    const ended = { sessions: 2, apiKeys: 1 }
    t.same(made.value, [{ id, at, subject, ended, isNew: true, blocked: null }])
    for (const { id } of [old, older])
      t.match((await store.sessions.readSession('acme', id)).value, { endedAt: at, revoked: true })
    for (const { id } of [later, other])
      t.equal((await store.sessions.readSession('acme', id)).value?.endedAt, null)
    const revokedAt = await Promise.all(
      keys.map(async (id) => (await store.apiKeyById('acme', id)).value?.revokedAt),
    )
    t.same(revokedAt, [at, null, null])
    t.equal((await restriction(store, 'eve'))?.cutoff, seconds(at))
    const stored = await store.revocationById('acme', id)
    t.match(stored, { id, at, reason: 'stolen', ended, answer: '{"at":1}', isInForce: true, seq: made.seq })
    const entry = (await soundChain(t, store)).at(-1)
    t.match(entry, { action: 'revocation.create', actor: { kind: 'command' }, target: { id } })
    t.same(stored?.audit, { seq: entry?.seq, hash: entry?.hash })
    t.same(column(made.changes, 'kind'), ['revocation', 'session', 'session', 'api-key'])

    const again = done(await store.applyReceipts(as, [one, one]))
    t.match(again.value, [
      { id, isNew: false },
      { id, isNew: false },
    ])
    t.same([again.changes, again.seq, again.mark], [[], made.seq, made.mark], 'it is announced up to there')
  })

  test('several: in order of their times, each once, and those that the store has are left', async (t, store) => {
    const known = (await revoke(store, { issuer: 'https://a.example' })).value
    const session = family()
    await store.sessions.create(session)
    await seat(store, 'A')
    const ci = await key(store, ['A'])
    const all = [
      receipt(5, { subject: { user: 'eve' } }),
      receipt(3, { subject: { issuer: 'https://a.example' } }),
      receipt(9, { subject: { session: session.id } }),
      receipt(4, { subject: { user: 'eve' } }),
      receipt(7, { subject: { api_key: ci.id }, at: Date.now() + HOUR }),
      receipt(8, { subject: { session: MISSING } }),
      receipt(6, { subject: { api_key: MISSING } }),
      receipt(5, { subject: { user: 'eve' } }),
      receipt(2, { id: known.id, subject: { issuer: 'https://a.example' } }),
    ]
    const made = done(await store.applyReceipts(as, all))
    const order = [2, 3, 4, 5, 5, 6, 8, 9, 7]
    t.same(
      column(made.value, 'id'),
      order.map((at) => (at === 2 ? known.id : `${ID}${at}`)),
    )
    t.same(column(made.value, 'isNew'), [false, true, true, true, false, true, true, true, true])
    const ends = [0, 0, 0, 0, 0, 0, 0, 1, 1]
    t.same(
      made.value.map(({ ended }) => ended.sessions + ended.apiKeys),
      ends,
    )
    t.equal(
      (await store.restrictions('acme')).value.issuers['https://a.example'],
      seconds(known.at),
      'the newest',
    )
    t.equal((await restriction(store, 'eve'))?.cutoff, seconds(T + 5))
    t.match((await store.apiKeyById('acme', ci.id)).value, { revokedAt: all[4]?.at })
    const { data } = await store.listRevocations('acme', { limit: 20, after: null, subject: null })
    t.equal(data.length, 8)
    t.ok(data.every(({ isInForce }) => isInForce))
    const seqs = data.filter(({ id }) => id !== known.id).toSorted((a, b) => a.at - b.at)
    t.same(
      column(seqs, 'seq').toSorted((a, b) => a - b),
      column(seqs, 'seq'),
      'each has the number of its own last change',
    )
    t.equal(seqs.at(-1)?.seq, made.seq)
    const { changes } = await store.changesSince(null)
    t.same(
      changes?.slice(-made.changes.length),
      made.changes.map((each, at) => ({
        ...each,
        mark: made.mark,
        seq: made.seq - made.changes.length + 1 + at,
      })),
    )
  })

  test('a tenant without the API key that was kept', async (t, store) => {
    const [kept, other] = [await key(store, []), await key(store, [])]
    const one = receipt(1, { apiKeys: true, keptKey: kept.id, at: Date.now() + HOUR })
    t.match(done(await store.applyReceipts(as, [one])).value, [{ ended: { apiKeys: 1 } }])
    t.equal((await store.apiKeyById('acme', kept.id)).value?.revokedAt, null)
    t.equal((await store.apiKeyById('acme', other.id)).value?.revokedAt, one.at)
    t.equal((await store.restrictions('acme')).value.tenant, seconds(one.at))
  })

  test('a block comes back with its origin', async (t, store) => {
    await block(store, 'eve', null, { reason: 'by hand' })
    const one = receipt(1, { what: 'all', origin: 'events', subject: { user: 'eve' } })
    done(await store.applyReceipts(as, [one]))
    const { data } = await store.listBlocks('acme', { limit: 9, after: null })
    t.same(column(data, 'origin'), ['admin', 'events'])
    t.match(await store.revocationById('acme', one.id), { what: 'all', origin: 'events' })
    const entry = (await soundChain(t, store)).at(-1)
    t.match(entry, { action: 'revocation.create', after: { what: 'all', origin: 'events' } })
  })

  test('blocks come back unless they have ended', async (t, store) => {
    const all = { what: 'all' } as const
    const until = Date.now() + HOUR
    await block(store, 'bob', null, { reason: 'older' })
    const made = done(
      await store.applyReceipts(as, [
        receipt(1, { ...all, subject: { user: 'ann' } }),
        receipt(2, { ...all, subject: { user: 'bob' }, until, reason: 'newer' }),
        receipt(3, { ...all, subject: { user: 'eve' }, until: T }),
        receipt(4, { subject: { user: 'dan' } }),
      ]),
    )
    t.same(column(made.value, 'blocked'), ['ann', 'bob', null, null])
    const { data } = await store.listBlocks('acme', { limit: 9, after: null })
    t.match(data, [
      { user: 'bob', until, reason: 'newer', createdBy: 'revoke' },
      { user: 'ann', until: null, reason: null },
    ])
  })

  test('a store that is behind: what it lacks is brought back from what revoke has returned', async (t, store) => {
    const { value } = await revoke(store, { user: 'eve' }, { what: 'all', reason: 'left' })
    const { seq: _seq, audit: _audit, ended: _ended, tenant: _tenant, ...rest } = value satisfies Revocation
    const other = writer(undefined, Date.now(), 'globex')
    const made = done(await store.applyReceipts(other, [{ ...rest, answer: '{}' }]))
    t.match(made.value, [{ id: value.id, isNew: true, blocked: 'eve' }], 'tenants are apart')
    t.equal((await restriction(store, 'eve', 'globex'))?.cutoff, seconds(value.at))
  })
})
