/** Who could administer a tenant, of every store driver. */

import type { Administration, Store } from '../../../seats-admin/store/store.ts'
import { ADMIN, block, done, key, NOTHING, seat, signedIn, suite, writer } from './conformance.ts'

const NOW = 1000
const NO_CHANGE = { space: 'admin', now: NOW, without: [], also: [], revoked: [], blocked: [] }
const MANAGER = { spaces: ['main', 'admin'], permissions: ['seats:grant', 'a:b', 'seats:update'] }

export const administrationConformance = suite((test) => {
  const asked = (store: Store, change: Partial<Administration> = {}, tenant = 'acme') =>
    store.isAdministered(tenant, { ...NO_CHANGE, ...change })

  test('an API key in force with an administrating Seat', async (t, store) => {
    t.equal(await asked(store), false, 'an empty tenant')
    const manager = await seat(store, 'Manager', MANAGER.spaces, MANAGER.permissions)
    const half = await seat(store, 'Half', ['admin'], ['seats:update'])
    await seat(store, 'Elsewhere', ['main', 'admin.x'], ['*'])
    await key(store, ['Half', 'Elsewhere'])
    t.equal(await asked(store), false, 'no key has the Seat')
    t.equal(await asked(store, { also: [half.id] }), true)
    const { id } = await key(store, ['Half', 'Manager'], { expiresAt: NOW + 1 })
    t.equal(await asked(store), true)
    t.equal(await asked(store, { now: NOW + 1 }), false, 'expired')
    t.equal(await asked(store, { without: [manager.id] }), false)
    t.equal(await asked(store, { without: [manager.id], also: [manager.id] }), true)
    t.equal(await asked(store, { revoked: [id] }), false)
    t.equal(await asked(store, { space: 'other' }), false)
    t.equal(await asked(store, {}, 'globex'), false)
    done(await store.revokeApiKey(writer(), id))
    t.equal(await asked(store), false, 'revoked')
  })

  test('a user who signed in, and is not blocked', async (t, store) => {
    const { id: every } = await seat(store, 'admin', ['admin'], ['*'])
    await store.recordSignIn('acme', signedIn('ann'), [every])
    t.equal(await asked(store), true)
    t.equal(await asked(store, { blocked: ['anna', '', '\ud800', 'a"b'] }), true)
    t.equal(await asked(store, { blocked: ['ben', 'ann'] }), false)
    await store.recordSignIn('acme', signedIn('jörg/…'), [every])
    t.equal(await asked(store, { blocked: ['ann'] }), true)
    t.equal(await asked(store, { blocked: ['ann', 'jörg/…'] }), false)
    await store.recordSignIn('acme', signedIn('ann'), [])
    await store.recordSignIn('acme', signedIn('jörg/…'), [])
    t.equal(await asked(store), false, 'the Seat went with a later sign-in')
  })

  test('a blocked user is no administrator, and blocks leave API keys alone', async (t, store) => {
    const { id: every } = await seat(store, 'admin', ['admin'], ['*'])
    await store.recordSignIn('acme', signedIn('ann'), [every])
    for (const other of ['anna', '\ud800', 'a\0']) await block(store, other)
    t.equal(await asked(store), true)
    const { value: blocked } = await block(store, 'ann')
    t.equal(await asked(store), false)
    await store.recordSignIn('acme', signedIn('ben'), [every])
    t.equal(await asked(store), true)
    t.equal(await asked(store, { blocked: ['ben'] }), false)
    done(await store.deleteBlock(writer(), blocked.id))
    t.equal(await asked(store, { blocked: ['ben'] }), true)
    for (const user of ['ann', 'ben']) await block(store, user)
    t.equal(await asked(store), false)
    await key(store, ['admin'])
    t.equal(await asked(store), true)
  })

  test('a write says whether an API key administers by a Seat that it leaves alone', async (t, store) => {
    const wanted = (name: string, permissions: string[]) => ({
      seats: [{ name, spaces: ['admin'], permissions, was: null }],
      prune: false,
    })
    const create = async (name: string) => {
      const made = done(await store.createSeat(writer(), { name, spaces: ['admin'], permissions: ['*'] }))
      return [made.value.id, made.keyAdministers] as const
    }
    const update = async (id: string, patch: object) =>
      done(await store.updateSeat(writer(), id, patch)).keyAdministers
    const apply = async (name: string, permissions: string[]) =>
      done(await store.applySeats(writer(), wanted(name, permissions), null)).keyAdministers
    const give = async (seats: string[], expiresAt: number | null = null) =>
      done(await store.createApiKey(writer(), { name: 'k', seats, expiresAt })).keyAdministers
    const [first, administered] = await create('first')
    t.equal(administered, false, 'an empty tenant')
    t.equal(await give(['first'], writer().now), false, 'the key is the first one, and has expired')
    t.equal(await update(first, { name: 'First' }), false)
    await give(['First'])
    t.equal((await block(store, 'ann')).keyAdministers, true)
    t.equal(await give([]), true)
    const [second, still] = await create('second')
    t.equal(still, true)
    t.equal(await update(second, { permissions: ['a:b'] }), true)
    t.equal(await update(first, { permissions: ['*', 'a:b'] }), false, 'the only Seat of a key')
    t.equal(await apply('second', ['*']), true)
    t.equal(await apply('First', ['*']), false)
    t.equal(await apply('third', ['*']), true)
    t.equal(await update(first, { spaces: ['main'] }), false)
    t.equal(await create('fourth').then(([, found]) => found), false, 'no key has a Seat that administrates')
    const other = done(await store.createSeat(writer(ADMIN, 1, 'globex'), { name: 'a', ...NOTHING }))
    t.equal(other.keyAdministers, false, 'another tenant')
  })
})
