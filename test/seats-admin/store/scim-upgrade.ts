/** A store of the version before SCIM, with users and sessions. For each driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import { ADMIN, signedIn } from './conformance.ts'
import { restriction } from './revocation-conformance.ts'
import { edited, groupsOf, made, refusedAs, scim, scimGroup, scimUser, userInput } from './scim-records.ts'
import { browserSession, NOW } from './session-records.ts'

const id = (letter: string) => letter.repeat(22)

/** As the version before writes them: a user, and a session of the user. @param bytes a literal of the database */
export function rowsBeforeScim(letter: string, bytes: (hex: string) => string): string {
  return `INSERT INTO sessions (tenant, id, cookie_hash, family_hash, handle_hash, sub, hash_perm, issued_at, renew_at, expires_at, sealed, created_at)
      VALUES ('acme', '${id(letter)}', ${bytes('01')}, NULL, NULL, '"x-${letter}"', '[]', 1, 2, ${NOW + 1}, 'sealed', 3);
    INSERT INTO users (tenant, sub, email, name, last_sign_in) VALUES ('acme', 'x-${letter}', NULL, NULL, 7)`
}

/** @param older writes further rows of letter `B` as the version before, which may still run; null: it can not */
export async function upgradedToScim(
  t: Test,
  store: Store,
  older: (() => Promise<void>) | null,
): Promise<void> {
  await older?.()
  const letters = older === null ? ['A'] : ['A', 'B']
  for (const letter of letters) {
    const { value } = await store.sessions.readSession('acme', id(letter))
    t.match(value, { user: `x-${letter}`, endedAt: null })
    t.notOk(value?.member)
    t.equal(await groupsOf(store, `x-${letter}`), null)
    const user = await scimUser(store, letter)
    await scimGroup(store, `group ${letter}`, [user.id])
    t.match(await store.readUser('acme', `x-${letter}`, ADMIN), { lastSignIn: 7, email: null })
    t.same(await groupsOf(store, `x-${letter}`), { active: true, groups: [`group ${letter}`] })
    const off = await edited(store, user, { active: false })
    t.same(off.revocations[0]?.ended, { sessions: 1, apiKeys: 0 })
    t.match(await restriction(store, `x-${letter}`), { block: { until: null } })
  }
  await store.sessions.create(browserSession({ id: id('C'), member: 'a "key" \0' }))
  t.equal((await store.sessions.sessionById('acme', id('C')))?.member, 'a "key" \0')
  await store.recordSignIn('acme', signedIn('x-A', 9), [])
  t.equal(await store.recordScimMember(scim(), 'x-A', 'oid'), null)
  t.match(await store.readUser('acme', 'x-A', ADMIN), { lastSignIn: 9 })
}

/** What an instance of the version before must not decide on is refused while it runs. @param leave ends it */
export async function refusedBesideOlder(t: Test, store: Store, leave: () => Promise<void>): Promise<void> {
  const user = await scimUser(store, 'ann')
  const group = await scimGroup(store, 'A', [user.id])
  const second = await scimUser(store, 'ben')
  made(await store.updateScimGroup(scim(), group.id, [{ add: [second.id] }]))
  const before = await store.changesSince(null)
  const taking = {
    'active: false': () =>
      store.updateScimUser(scim(), 'externalId', user.id, 1, userInput('ann', { active: false })),
    'another key': () =>
      store.updateScimUser(scim(), 'externalId', user.id, 1, userInput('ann', { externalId: 'x' })),
    'a deleted user': () => store.deleteScimUser(scim(), 'externalId', user.id),
    'a removed member': () => store.updateScimGroup(scim(), group.id, [{ remove: [user.id] }]),
    'a renamed group': () => store.updateScimGroup(scim(), group.id, [{ set: { displayName: 'B' } }]),
    'a deleted group': () => store.deleteScimGroup(scim(), group.id),
  }
  for (const [name, write] of Object.entries(taking)) {
    const refusal = await write()
    t.equal(refusedAs(refusal), 'unavailable', name)
    t.match(refusal, { detail: /gw-old has an older version/ })
  }
  t.same(await store.changesSince(null), before, 'nothing was changed')
  t.same(await groupsOf(store, 'x-ann'), { active: true, groups: ['A'] })
  t.match(await store.readScimGroup('acme', group.id), { memberCount: 2, version: 2 })
  await leave()
  for (const [name, write] of Object.entries(taking).slice(-3))
    t.equal(refusedAs(await write()), 'not refused', name)
}
