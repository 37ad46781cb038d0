/** API keys that authenticate are noted, once for each reading. */

import { randomBytes } from 'node:crypto'
import t from 'tap'
import { KeyUses } from '../../../src/decision/authn/key-uses.ts'
import { formatApiKey, hashApiKey, type StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import { authenticator, credentials, NOW } from './support.ts'

const ID = '01JZ0000000000000000000001'
const keyOf = (id: string, tenant = 'acme') => formatApiKey(tenant, id, randomBytes(16).toString('hex'))
const recordOf = (text: string, id: string, more: Partial<StoredApiKey> = {}): StoredApiKey => ({
  id,
  tenant: 'acme',
  hash: hashApiKey(text),
  seatIds: [],
  expiresAt: null,
  revokedAt: null,
  owner: null,
  ...more,
})

t.test('a key is noted at its first use since the last reading', async (t) => {
  const keyUses = new KeyUses()
  const text = keyOf(ID)
  let record = recordOf(text, ID)
  let now = NOW
  const authn = authenticator({ keyUses, now: () => now, apiKeyById: () => record })
  const use = () => authn.authenticate(credentials({ apiKey: [text] }))
  t.same(keyUses.take(), [])
  for (let at = 0; at < 3; at++, now++) await use()
  record = { ...record }
  for (let at = 0; at < 3; at++, now++) await use()
  t.same(keyUses.take(), [{ tenant: 'acme', id: ID, at: NOW }], 'once, also for a record that was read again')
  t.same(keyUses.take(), [])
  await use()
  t.same(keyUses.take(), [{ tenant: 'acme', id: ID, at: NOW + 6 }])
})

t.test('a reload of the configuration forgets nothing', async (t) => {
  const keyUses = new KeyUses()
  const text = keyOf(ID)
  const record = recordOf(text, ID)
  for (let at = 0; at < 2; at++) {
    const authn = authenticator({ keyUses, now: () => NOW + at, apiKeyById: () => record })
    await authn.authenticate(credentials({ apiKey: [text] }))
  }
  t.same(keyUses.take(), [{ tenant: 'acme', id: ID, at: NOW }])
})

t.test('keys that do not authenticate are not noted', async (t) => {
  const keyUses = new KeyUses()
  const text = keyOf(ID)
  for (const record of [
    null,
    recordOf(keyOf(ID), ID),
    recordOf(text, ID, { expiresAt: NOW }),
    recordOf(text, ID, { revokedAt: 1 }),
  ]) {
    const authn = authenticator({ keyUses, apiKeyById: () => record })
    await authn.authenticate(credentials({ apiKey: [text] }))
  }
  const other = keyOf(ID, 'unknown')
  await authenticator({ keyUses, apiKeyById: () => recordOf(other, ID) }).authenticate(
    credentials({ apiKey: [other] }),
  )
  t.same(keyUses.take(), [])
})

t.test('the number of noted keys is bounded, and a key beyond it is noted later', (t) => {
  const keyUses = new KeyUses()
  const marks = Array.from({ length: 100_001 }, (_, at) => ({
    mark: keyUses.markOf('acme', `${at}`),
    id: `${at}`,
  }))
  for (const { mark, id } of marks) keyUses.note(mark, 'acme', id, 1)
  const last = marks[100_000]
  t.equal(last?.mark.noted, false)
  t.equal(keyUses.take().length, 100_000)
  if (last !== undefined) keyUses.note(last.mark, 'acme', last.id, 2)
  t.same(keyUses.take(), [{ tenant: 'acme', id: '100000', at: 2 }])
  t.ok(marks.every(({ mark }) => !mark.noted))
  t.end()
})
