/** The estimated size of cached tokens and keys covers their real size: `memory.tokens` is a bound. */

import { randomBytes } from 'node:crypto'
import t from 'tap'
import { KeyUses } from '../../../src/decision/authn/key-uses.ts'
import { formatApiKey, hashApiKey } from '../../../seats-admin/model/api-key.ts'
import { DEFAULT_MEMORY } from '../../support/default-settings.ts'
import { collected } from '../../support/garbage.ts'
import { authenticator, claims, credentials, sign } from './support.ts'

/** Bound of the cache, bytes. */
const BOUND = 2 * 1024 * 1024
/** Allowance for other allocations in this process meanwhile, bytes. */
const REST = 256 * 1024
/** The table of a WeakMap that had an entry for each of 15,000 records at once: Node.js 24 does not make it smaller. Bytes. */
const TABLE = 32_768 * 32

const times = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at))

const ENTRIES: Record<string, (user: string) => string[]> = {
  none: () => [],
  one: () => ['s1:Viewer'],
  '150 of one space': (user) => times(150, (at) => `s1:${user} ${at}`),
  '150 of as many spaces': (user) => times(150, (at) => `${user}-${at}:Viewer`),
  'of minimum length': () => times(900, (at) => `${at.toString(36)}:s`),
  'two of each space': () => times(400, (at) => `${(at >> 1).toString(36)}:${at % 2}`),
  'a long space with many names': (user) =>
    times(60, (at) => `${'s'.repeat(128)}:${user.padEnd(11, '-')}${at + 10}`),
  'the same with two-byte characters': (user) =>
    times(60, (at) => `${'s'.repeat(128)}:${user.padEnd(10, '-')}☃${at + 10}`),
  long: (user) => times(20, (at) => `s${at}:${'e'.repeat(90)}${user}`),
  wide: (user) => times(20, (at) => `s${at}:${'☃'.repeat(90)}${user}`),
}

async function grownBy(remember: () => Promise<void> | void): Promise<number> {
  const before = await held()
  await remember()
  return (await held()) - before
}

/** Garbage is collected first. */
async function held(): Promise<number> {
  return (await collected()).heapUsed
}

for (const [kind, entries] of Object.entries(ENTRIES)) {
  t.test(`tokens with entries: ${kind}`, async (t) => {
    const authn = authenticator({ memory: { ...DEFAULT_MEMORY, tokens: BOUND } })
    const ask = (user: string) => {
      const token = sign({ ...claims, sub: user, hash_perm: entries(user) })
      return authn.authenticate(credentials({ authorization: [`Bearer ${token}`] }))
    }
    ask('first')
    // Enough of them to exceed the bound at any size.
    const count = Math.ceil(BOUND / (60 * entries('user-1').length + 500))
    const taken = await grownBy(() => {
      for (let i = 0; i < count; i++) ask(`user-${i}`)
    })
    t.ok(taken < BOUND + REST, `${taken} bytes`)
    t.ok(taken > BOUND / 6, `${taken} bytes`)
    t.match(await ask(`user-${count - 1}`), { user: `user-${count - 1}` })
  })
}

t.test('API keys', async (t) => {
  const id = (at: number) => `01JZ0000000000000000${String(at).padStart(6, '0')}`
  const hashes = new Map<string, Uint8Array>()
  const keys = times(15_000, (at) => {
    const text = formatApiKey('acme', id(at), randomBytes(16).toString('hex'))
    hashes.set(id(at), hashApiKey(text))
    return text
  })
  const record = (tenant: string, key: string) => {
    const hash = hashes.get(key) ?? new Uint8Array(32)
    return { id: key, tenant, hash, seatIds: [], expiresAt: null, revokedAt: null, owner: null }
  }
  const memory = { ...DEFAULT_MEMORY, apiKeys: BOUND }
  const askerOf = (keyUses: KeyUses) => {
    const authn = authenticator({ apiKeyById: record, keyUses, memory })
    return (key = '') => authn.authenticate(credentials({ apiKey: [key] }))
  }
  // What the engine keeps for code that has run often belongs to no cache.
  const first = askerOf(new KeyUses())
  for (const key of keys) first(key)
  const keyUses = new KeyUses()
  const ask = askerOf(keyUses)
  ask(keys[0])
  const taken = await grownBy(() => {
    for (const key of keys) ask(key)
    t.equal(keyUses.take().length, keys.length, 'uses have a bound of their own')
  })
  t.ok(taken < BOUND + REST + TABLE, `${taken} bytes`)
  t.ok(taken > BOUND / 6, `${taken} bytes`)
  t.match(await ask(keys.at(-1)), { method: 'api-key' })
})
