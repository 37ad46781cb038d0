/** The statements that the server receives, by its own log. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { until } from '../../../support/until.ts'
import { ADMIN, BEGINNING, done, signedIn, writer } from '../conformance.ts'
import { inputOf } from '../revocation-conformance.ts'
import type { Store } from '../../../../seats-admin/index.ts'
import { edited, made, scim, scimGroup, scimUser } from '../scim-records.ts'
import { browserSession } from '../session-records.ts'
import { emptyDatabase, open } from './support.ts'

const settings = ['synchronous_commit = off', `log_statement = 'all'`, `log_line_prefix = '%d '`]
const server = await startPostgres(t, { settings, fsync: false })

/** Without a hash of its tables, an instance would be of a version without blocks. */
const SHOWN = { config: 'c', url: null }

let marks = 0

/** Adds a member who is none, or removes the member. */
async function toggled(store: Store, group: string, user: string) {
  const isMember = toggles++ % 2 === 1
  return made(await store.updateScimGroup(scim(), group, [isMember ? { remove: [user] } : { add: [user] }]))
}

let toggles = 0

/** All that the server has logged by now. A line may be read later than the answer to its statement. */
async function logged(): Promise<string> {
  const mark = `mark ${++marks}`
  await server.query(`SELECT '${mark}'`)
  await until(() => server.log.includes(mark), mark)
  return server.log
}

t.test('the number of statements of each call', async (t) => {
  const store = await open(t, { url: await emptyDatabase(server), pool: 1 })
  const { id } = done(await store.createSeat(writer(), { name: 'A', spaces: ['one'], permissions: [] })).value
  const as = writer()
  const make = () => store.createApiKey(as, { name: 'k', seats: ['A'], expiresAt: null })
  const key = done(await make()).value
  const session = browserSession()
  await store.sessions.create(session)
  const page = { limit: 10, after: null, scope: ADMIN }
  await store.registry?.register('a', 'a')
  let beat = 0
  // Registering opens the feed's connection in the background; its statements would be counted as another call's.
  await store.registry?.follow('a', ++beat, BEGINNING, 0, SHOWN)
  const person = await scimUser(store, 'ann')
  const group = await scimGroup(store, 'A')
  const calls: Record<string, [statements: number, call: () => Promise<unknown> | undefined]> = {
    spacesByName: [1, () => store.spacesByName('acme', 'A')],
    seatByName: [1, () => store.seatByName('acme', 'A')],
    seatById: [1, () => store.seatById('acme', id)],
    apiKeyById: [1, () => store.apiKeyById('acme', key.id)],
    changesSince: [1, () => store.changesSince(BEGINNING)],
    follow: [1, () => store.registry?.follow('a', ++beat, BEGINNING, 0, SHOWN)],
    instances: [1, () => store.registry?.instances()],
    readSeat: [1, () => store.readSeat('acme', id, ADMIN)],
    listSeats: [1, () => store.listSeats('acme', page)],
    listApiKeys: [1, () => store.listApiKeys('acme', page)],
    updateSeat: [4, () => store.updateSeat(as, id, { permissions: ['a:b'] })],
    createApiKey: [4, make],
    restrictions: [1, () => store.restrictions('acme')],
    userRestriction: [1, () => store.userRestriction('acme', 'ann')],
    createSession: [1, () => store.sessions.create(browserSession())],
    endSession: [4, () => store.endSession(as, session.id)],
    revokeApiKey: [5, () => store.revokeApiKey(as, key.id)],
    createBlock: [6, () => store.createBlock(as, { user: 'eve', until: null, reason: null })],
    'revoke of a user': [6, () => store.revoke(as, inputOf({ user: 'ann' }))],
    'revoke of a user, with a block': [9, () => store.revoke(as, inputOf({ user: 'ann' }, { what: 'all' }))],
    countRevocation: [7, () => store.countRevocation(as, inputOf({ user: 'ann' }))],
    membership: [1, () => store.membership('acme', 'externalId', 'x-ann')],
    listScimUsers: [2, () => store.listScimUsers('acme', { filter: {}, startIndex: 1, count: 10 })],
    listScimMembers: [1, () => store.listScimMembers('acme', group.id, { limit: 10, after: null })],
    'a SCIM user without a change': [4, async () => edited(store, person, {})],
    'another title': [6, async () => edited(store, person, { resource: { at: ++beat } })],
    'a member who comes and goes': [7, () => toggled(store, group.id, person.id)],
    'a SCIM member like at the last sign-in': [1, () => store.recordScimMember(scim(), 'ann', 'oid')],
    'a sign-in like the last one': [1, () => store.recordSignIn('acme', signedIn('ann'), [])],
  }
  for (const [name, [, call]] of Object.entries(calls)) {
    await call()
    const before = (await logged()).length
    await call()
    const asked = (await logged())
      .slice(before)
      .split('\n')
      .filter((line) => /LOG: {2}(statement|execute)/.test(line) && !line.startsWith('postgres '))
    t.equal(asked.length, calls[name]?.[0], `${name}: ${asked.join('\n')}`)
  }
})

t.test('each connection sets its parameters', async (t) => {
  const { length } = await logged()
  const set = async (value: string) =>
    (await logged()).slice(length).split(`SET synchronous_commit = ${value}`).length - 1
  const store = await open(t, { url: await emptyDatabase(server) })
  done(await store.createSeat(writer(), { name: 'A', spaces: [], permissions: [] }))
  await store.registry?.register('a', 'a')
  t.ok((await set('on')) >= 3, 'whatever the server’s default: opening, writing and registering')
  t.ok((await set('off')) <= 1, 'except the connection of the feed, which may be open already')
  await store.registry?.follow('a', 1, null, 0)
  t.equal(await set('off'), 1)
})
