/** A store of the version before revocations, with rows of each kind. For each driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import { ADMIN, BEGINNING, done, PAGE, writer } from './conformance.ts'
import { restriction, revoke, seconds } from './revocation-conformance.ts'
import { hash, NOW, provider, RENEWAL } from './session-records.ts'

const id = (letter: string) => letter.repeat(22)
const KEY = 'api_keys (tenant, id, name, hash, created_by, created_at, expires_at)'
const SESSION =
  'sessions (tenant, id, cookie_hash, family_hash, handle_hash, sub, hash_perm, issued_at, renew_at, expires_at, sealed, created_at)'

/**
 * As the version before writes them: a session of a user, and an API key. @param bytes a literal of the database
 */
export function rowsOf(letter: string, bytes: (hex: string) => string): string {
  return `INSERT INTO ${SESSION} VALUES
      ('acme', '${id(letter)}', ${bytes('01')}, NULL, NULL, '"ann"', '[]', 1, 2, ${NOW + 1}, 'sealed', 3);
    INSERT INTO ${KEY} VALUES ('acme', 'key ${letter}', 'ci', ${bytes('02')}, 'alice', 1, NULL)`
}

/** Further rows, in a new store. */
export function storeBefore(bytes: (hex: string) => string): string {
  return `${rowsOf('A', bytes)};
    INSERT INTO ${SESSION} VALUES
      ('acme', '${id('B')}', NULL, ${bytes('03')}, ${bytes('04')}, '"ben"', '[]', 1, 2, ${NOW + 1}, 'sealed', 3);
    INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at)
      VALUES ('acme', 's1', 'Viewer', '["one"]', '["a:b"]', 'alice', 1);
    INSERT INTO api_key_seats VALUES ('acme', 'key A', 0, 's1');
    INSERT INTO users (tenant, sub) VALUES ('acme', 'ann');
    INSERT INTO blocks VALUES ('acme', 'b1', '"eve"', ${bytes(BLOCK_OF_EVE)}, NULL, 'left', 'alice', 1);
    INSERT INTO provider_logouts VALUES ('acme', ${bytes('05')}, 1);
    INSERT INTO changes (seq, mark, tenant, kind, key) VALUES (1, 7, 'acme', 'block', '"eve"');
    UPDATE counter SET seq = 1, mark = 7`
}

/** The SHA-256 of `"eve"`, with the quotation marks. */
const BLOCK_OF_EVE = '52c10d919b69aebce9f9a9a634f9b13ec569286228fa0de82df84eb52b664412'

/** @param older writes further rows of letter `C` as the version before, which may still run; null: it can not */
export async function upgraded(t: Test, store: Store, older: (() => Promise<void>) | null): Promise<void> {
  t.match((await store.changesSince(BEGINNING)).changes, [{ seq: 1, kind: 'block' }])
  t.match((await store.restrictions('acme')).value, {
    users: [{ user: 'eve', cutoff: null }],
    issuers: {},
    tenant: null,
  })
  t.match((await store.sessions.readSession('acme', id('A'))).value, { endedAt: null, revoked: false })
  t.match(done(await store.readApiKey('acme', 'key A', ADMIN)), { owner: null, seats: ['Viewer'] })
  t.same((await store.listApiKeys('acme', { ...PAGE, owner: 'ann' })).data, [])
  t.same(await store.listRevocations('acme', { limit: 9, after: null, subject: null }), {
    data: [],
    hasMore: false,
  })
  t.ok(await store.sessions.renew('acme', id('A'), null, RENEWAL))

  await older?.()
  const sessions = older === null ? 1 : 2
  const made = await revoke(store, { user: 'ann' })
  t.same(made.value.ended, { sessions, apiKeys: 0 })
  t.match((await store.sessions.readSession('acme', id('A'))).value, { revoked: true })
  t.match((await store.sessions.readSession('acme', id('B'))).value, { revoked: false })
  const use = { family: new Uint8Array([3]), handle: new Uint8Array([4]) }
  t.equal((await store.sessions.rotate(provider(), id('B'), use, hash())).outcome, 'rotated')
  const all = await revoke(store, { tenant: true }, { apiKeys: true })
  t.same(all.value.ended, { sessions: 1, apiKeys: sessions })
  t.same(await restriction(store, 'ann'), { user: 'ann', block: null, cutoff: seconds(made.value.at) })
  const { value } = done(await store.createBlock(writer(), { user: 'eve', until: null, reason: null }))
  t.equal(value.id, 'b1', 'the block of before is replaced')
}
