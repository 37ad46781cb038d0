import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { formatApiKey, hashApiKey } from '../../../seats-admin/model/api-key.ts'
import { DEFAULT_MEMORY } from '../../support/default-settings.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import { authenticator, credentials, NOW, resultOf } from './support.ts'
import { anyText } from '../../lib/any-text.ts'

const ID = '01JZ0000000000000000000001'
const OTHER_ID = '01JZ0000000000000000000002'
const random = () => randomBytes(16).toString('hex')
const key = formatApiKey('acme', ID, random())
const otherKey = formatApiKey('globex', OTHER_ID, random())

function record(text: string, more: Partial<StoredApiKey> = {}): StoredApiKey {
  const hash = hashApiKey(text)
  return {
    id: ID,
    tenant: 'acme',
    hash,
    seatIds: ['seat-1'],
    expiresAt: null,
    revokedAt: null,
    owner: null,
    ...more,
  }
}

/** Records by tenant and id; the test changes them while the authenticator is in use. */
function keyring(...records: StoredApiKey[]) {
  const held = new Map<string, StoredApiKey>()
  const put = (it: StoredApiKey) => held.set(`${it.tenant}/${it.id}`, it)
  for (const it of records) put(it)
  const lookUps: string[] = []
  const apiKeyById = (tenant: string, id: string) => {
    lookUps.push(`${tenant}/${id}`)
    return held.get(`${tenant}/${id}`) ?? null
  }
  return { held, put, lookUps, apiKeyById }
}

const both = () => keyring(record(key), record(otherKey, { tenant: 'globex', id: OTHER_ID }))

t.test('an API key authenticates as its id, with its Seats by id', async (t) => {
  t.same(await resultOf(authenticator(both()), { apiKey: [key] }), {
    method: 'api-key',
    tenant: 'acme',
    user: ID,
    email: null,
    claims: { by: 'id', seats: ['seat-1'] },
    owner: null,
    issuedAt: Infinity,
    session: null,
    validUntil: null,
  })
  t.match(await resultOf(authenticator(both()), { apiKey: [otherKey] }), { tenant: 'globex', user: OTHER_ID })
})

t.test('an API key takes precedence over Authorization', async (t) => {
  const authn = authenticator(both())
  t.match(await resultOf(authn, { apiKey: [key], authorization: ['Bearer nonsense'] }), { method: 'api-key' })
})

t.test('synchronous when memory has the record, asynchronous otherwise', async (t) => {
  const ring = both()
  t.notOk(authenticator(ring).authenticate(credentials({ apiKey: [key] })) instanceof Promise)
  const slow = authenticator({ apiKeyById: async (tenant, id) => ring.apiKeyById(tenant, id) })
  const answer = slow.authenticate(credentials({ apiKey: [key] }))
  t.ok(answer instanceof Promise)
  t.match(await answer, { user: ID })
})

t.test('the record is looked up each time, so changes apply at once', async (t) => {
  const ring = both()
  const authn = authenticator(ring)
  t.match(await resultOf(authn, { apiKey: [key] }), { claims: { seats: ['seat-1'] } })
  ring.put(record(key, { seatIds: ['seat-2'] }))
  t.match(await resultOf(authn, { apiKey: [key] }), { claims: { seats: ['seat-2'] } })
  ring.put(record(key, { revokedAt: NOW }))
  t.equal(await resultOf(authn, { apiKey: [key] }), 'api_key_revoked')
  ring.held.clear()
  t.equal(await resultOf(authn, { apiKey: [key] }), 'api_key_invalid')
  ring.put(record(formatApiKey('acme', ID, random())))
  t.equal(await resultOf(authn, { apiKey: [key] }), 'api_key_invalid', 'another key under the same id')
  t.same(new Set(ring.lookUps), new Set([`acme/${ID}`]))
  t.equal(ring.lookUps.length, 5)
})

t.test('expiry, and expiry before revocation', async (t) => {
  const with_ = (more: Partial<StoredApiKey>) =>
    resultOf(authenticator(keyring(record(key, more))), { apiKey: [key] })
  t.equal(await with_({ expiresAt: NOW - 1 }), 'api_key_expired')
  t.equal(await with_({ expiresAt: NOW }), 'api_key_expired')
  t.match(await with_({ expiresAt: NOW + 1 }), { user: ID })
  t.equal(await with_({ expiresAt: NOW - 1, revokedAt: NOW - 2 }), 'api_key_expired')
  t.equal(await with_({ expiresAt: NOW + 1, revokedAt: NOW - 2 }), 'api_key_revoked')
  t.equal(await with_({ revokedAt: 0 }), 'api_key_revoked')
  t.equal(await with_({ revokedAt: NOW + 1_000_000 }), 'api_key_revoked')
  t.equal(
    await with_({ expiresAt: Number.NaN }),
    'api_key_expired',
    'an expiry that is not a number counts as expired',
  )
})

t.test('expiry is checked when the store has answered', async (t) => {
  let now = NOW
  const answers = Promise.withResolvers<StoredApiKey>()
  const authn = authenticator({ now: () => now, apiKeyById: () => answers.promise })
  const verdict = resultOf(authn, { apiKey: [key] })
  now += 1000
  answers.resolve(record(key, { expiresAt: NOW + 1000 }))
  t.equal(await verdict, 'api_key_expired')
})

t.test('a wrong key reveals neither expiry nor revocation', async (t) => {
  const forged = formatApiKey('acme', ID, random())
  for (const more of [{ expiresAt: 1 }, { revokedAt: 1 }, {}])
    t.equal(
      await resultOf(authenticator(keyring(record(key, more))), { apiKey: [forged] }),
      'api_key_invalid',
    )
})

t.test('well-formed invalid keys all get the same refusal', async (t) => {
  const authn = authenticator(both())
  const wrong = {
    'another random part': formatApiKey('acme', ID, random()),
    'an unknown id': formatApiKey('acme', '01JZ0000000000000000000009', random()),
    'the id of another tenant': formatApiKey('acme', OTHER_ID, random()),
    'an unknown tenant': formatApiKey('nobody', ID, random()),
    'no key at all': 'hello',
  }
  const answers = new Set<unknown>()
  for (const [name, text] of Object.entries(wrong)) {
    t.equal(await resultOf(authn, { apiKey: [text] }), 'api_key_invalid', name)
    answers.add(await authn.authenticate(credentials({ apiKey: [text] })))
  }
  t.equal(answers.size, 1)
})

t.test('swapped parts: tenant and id of one key, random part of another', async (t) => {
  const [secret, otherSecret] = [random(), random()]
  const ring = keyring(
    record(formatApiKey('acme', ID, secret)),
    record(formatApiKey('globex', OTHER_ID, otherSecret), { tenant: 'globex', id: OTHER_ID }),
  )
  const authn = authenticator(ring)
  for (const text of [
    formatApiKey('acme', ID, otherSecret),
    formatApiKey('globex', OTHER_ID, secret),
    formatApiKey('globex', ID, secret),
    formatApiKey('acme', OTHER_ID, secret),
  ])
    t.equal(await resultOf(authn, { apiKey: [text] }), 'api_key_invalid')
  t.match(await resultOf(authn, { apiKey: [formatApiKey('acme', ID, secret)] }), { tenant: 'acme' })
})

t.test('a key of an unconfigured tenant is not looked up', async (t) => {
  const ring = keyring(record(formatApiKey('gone', ID, random()), { tenant: 'gone' }))
  t.equal(
    await resultOf(authenticator(ring), { apiKey: [formatApiKey('gone', ID, random())] }),
    'api_key_invalid',
  )
  t.same(ring.lookUps, [])
})

t.test('other spellings of a key', async (t) => {
  const authn = authenticator(both())
  t.match(await resultOf(authn, { apiKey: [key] }), { user: ID }, 'the key itself, which is now cached')
  const body = key.slice(3)
  const fullWidth = body.replace(/[0-9]/, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
  const spellings = [
    body,
    `sk_0${body}`,
    `sk_00${body}`,
    `SK_${body}`,
    `sk-${body}`,
    `sk_${body}=`,
    ` ${key}`,
    `${key} `,
    `${key}\n`,
    `${key}\0`,
    `sk_+${body}`,
    `sk_-${body}`,
    `sk_${fullWidth}`,
    `sk_${body.toLowerCase()}`,
    `sk_${body.toUpperCase()}`,
    `sk_${[...body].reverse().join('')}`,
    `sk_${key}`,
    `sk_${body}${body}`,
    `Bearer ${key}`,
    `"${key}"`,
    `acme_${ID}_x`,
    'sk_',
    '',
  ]
  for (const text of spellings)
    t.equal(await resultOf(authn, { apiKey: [text] }), 'api_key_invalid', JSON.stringify(text))
  t.equal(await resultOf(authn, { authorization: [`Bearer ${key}`] }), 'token_invalid', 'in the wrong header')
})

t.test('oversized keys', async (t) => {
  const ring = both()
  const authn = authenticator(ring)
  for (const text of [`sk_${'z'.repeat(10_000_000)}`, 'a'.repeat(1025), `sk_${'9'.repeat(1021)}`])
    t.equal(await resultOf(authn, { apiKey: [text] }), 'api_key_invalid')
  t.same(ring.lookUps, [])
})

t.test('a stored hash of odd length matches nothing', async (t) => {
  for (const hash of [
    new Uint8Array(),
    new Uint8Array(31),
    hashApiKey(key).subarray(0, 16),
    Buffer.alloc(64),
  ])
    t.equal(
      await resultOf(authenticator(keyring(record(key, { hash }))), { apiKey: [key] }),
      'api_key_invalid',
    )
})

t.test('a store failure is an error, not a refusal', async (t) => {
  const gone = authenticator({ apiKeyById: () => Promise.reject(new Error('the store is unavailable')) })
  await t.rejects(resultOf(gone, { apiKey: [key] }), { message: 'the store is unavailable' })
})

t.test('more keys in use than the cache holds', async (t) => {
  const ring = keyring()
  const keys = Array.from({ length: 20 }, (_, at) => {
    const id = `01JZ00000000000000000000${String(at).padStart(2, '0')}`
    const text = formatApiKey('acme', id, random())
    ring.put(record(text, { id }))
    return { id, text }
  })
  const authn = authenticator({ ...ring, memory: { ...DEFAULT_MEMORY, apiKeys: 1500 } })
  for (const { id, text } of [...keys, ...keys.toReversed()])
    t.match(await resultOf(authn, { apiKey: [text] }), { user: id })
})

t.test('any edit of a key is refused', async () => {
  const authn = authenticator(both())
  await resultOf(authn, { apiKey: [key] })
  const place = fc.nat(key.length - 1)
  const piece = fc.oneof(fc.constantFrom(...'0Aaz9_ '), anyText({ maxLength: 2 }))
  await fc.assert(
    fc.asyncProperty(place, fc.nat(2), piece, async (at, cut, text) => {
      const edited = key.slice(0, at) + text + key.slice(at + cut)
      const answer = await resultOf(authn, { apiKey: [edited] })
      if (edited === key) return typeof answer !== 'string'
      return answer === 'api_key_invalid' || (answer === 'credentials_ambiguous' && text.includes(','))
    }),
    { numRuns: 2000 },
  )
})

t.test('a token in the place of an API key is refused with its right place', async (t) => {
  const refused = (text: string) => authenticator(both()).authenticate(credentials({ apiKey: [text] }))
  const place = {
    code: 'api_key_invalid',
    detail: /has the form of a token, which belongs in .* Authorization/,
  }
  t.match(await refused('eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln'), place)
  t.match(await refused(`eyJhbGciOiJIUzI1NiJ9.${'a'.repeat(4000)}.c2ln`), place)
  for (const other of ['eyJ', 'eyJ.a', 'eyJ.a.b.c', `${key}x`, 'a.b.c'])
    t.match(await refused(other), { code: 'api_key_invalid', detail: 'The API key is unknown.' }, other)
})
