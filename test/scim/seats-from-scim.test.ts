/**
 * A tenant with `seats_from: scim`: its users have the Seats with the names of their groups, at the next request
 * after the answer to each change. What a token names counts no more; API keys are as before.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { seatgateHere } from '../cli/in-process.ts'
import { env } from '../support/world.ts'
import { GLOBEX_TOKEN, GROUP, NEW_TOKEN, startScim, TOKEN, USER } from './support.ts'

const scim = await startScim(t, {
  acme: ['seats_from: scim'],
  routes: ['GET /list: trainings:list', 'GET /me: authenticated'],
})
const { world } = scim
const SECRETS = { TOKEN, NEW_TOKEN, GLOBEX_TOKEN }
const WHO_CAN = ['who-can', '--permission', 'trainings:list', '--tenant', 'acme'] as const
await world.seat('Viewer', ['main'], ['trainings:list'])
await world.seat('Reader', ['main'], ['trainings:list'])

/** The decision on a request of the user, whose token names a Seat. */
async function ask(sub: string, path = '/list', tenant = 'acme'): Promise<string> {
  const authorization = `Bearer ${await world.token(['main:Viewer'], { sub, tenant })}`
  const { status, json } = await world.client.send('GET', path, { authorization, space: 'main' })
  return status < 300 ? 'allow' : `${status} ${json.code}`
}

const NO_SEAT = '403 no_seat_in_space'

t.test('what the token names counts for nothing, and the user still authenticates', async (t) => {
  t.equal(await ask('stranger'), NO_SEAT)
  t.equal(await ask('stranger', '/me'), 'allow')
  await scim.user('member')
  t.equal(await ask('member'), NO_SEAT)
})

t.test('each change of the groups counts from its answer on', async (t) => {
  const id = await scim.user('alice')
  const others = await Promise.all(['a1', 'a2'].map((name) => scim.user(name)))
  const group = await scim.group('Nothing', [id, ...others])
  t.equal(await ask('alice'), NO_SEAT)
  const rename = (displayName: string) =>
    scim.patch(`/Groups/${group}`, { op: 'replace', value: { displayName } })
  const change = (op: 'add' | 'remove') =>
    op === 'add'
      ? scim.patch(`/Groups/${group}`, { op, path: 'members', value: [{ value: id }] })
      : scim.patch(`/Groups/${group}`, { op, path: `members[value eq "${id}"]` })
  const steps: [string, () => Promise<{ readonly status: number; readonly body: string }>, string][] = [
    ['the group is renamed to a Seat', () => rename('Viewer'), 'allow'],
    ['the user is removed', () => change('remove'), NO_SEAT],
    ['the user is added', () => change('add'), 'allow'],
    ['the group is renamed to no Seat', () => rename('viewer'), NO_SEAT],
    ['and to another Seat', () => rename('Reader'), 'allow'],
    ['the group is deleted', () => scim.send('DELETE', `/Groups/${group}`), NO_SEAT],
  ]
  for (const [what, does, expected] of steps) {
    const { status, body } = await does()
    t.ok(status >= 200 && status < 300, `${what}: ${body}`)
    t.equal(await ask('alice'), expected, what)
  }
})

t.test('a group that is put, and a user who is deleted and made again', async (t) => {
  const id = await scim.user('bob')
  const group = await scim.group('Reader group', [])
  const put = (displayName: string, members: readonly string[]) =>
    scim.send('PUT', `/Groups/${group}`, {
      ...{ schemas: [GROUP], displayName },
      members: members.map((value) => ({ value })),
    })
  t.equal((await put('Viewer', [id])).status, 200)
  t.equal(await ask('bob'), 'allow')
  t.equal((await scim.send('DELETE', `/Users/${id}`)).status, 204)
  t.match(await ask('bob'), /^40[13] /)
  await scim.user('bob')
  t.match(await ask('bob'), /^40[13] /, 'who has no groups then')
  t.equal((await put('Gone', [])).status, 200)
})

t.test('a user who gets another key', async (t) => {
  const id = await scim.user('carol')
  const group = await scim.group('Viewer', [id])
  t.equal(await ask('carol'), 'allow')
  const put = { schemas: [USER], userName: 'carol', externalId: 'caroline', active: true }
  t.equal((await scim.send('PUT', `/Users/${id}`, put)).status, 200)
  t.not(await ask('carol'), 'allow')
  t.equal(await ask('caroline'), 'allow')
  t.equal((await scim.send('DELETE', `/Groups/${group}`)).status, 204)
})

t.test('the Seat of the name is changed, renamed away, and made again', async (t) => {
  const seat = await world.seat('Editor', ['main'], ['trainings:list'])
  await scim.group('Editor', [await scim.user('dave')])
  t.equal(await ask('dave'), 'allow')
  const put = (fields: object) => world.admin('PUT', `/v1/seats/${seat}`, fields)
  t.equal((await put({ permissions: ['x:y'] })).status, 200)
  t.equal(await ask('dave'), '403 permission_denied')
  t.equal((await put({ permissions: ['trainings:list'], name: 'Author' })).status, 200)
  t.equal(await ask('dave'), NO_SEAT)
  await world.seat('Editor', ['main'], ['trainings:list'])
  t.equal(await ask('dave'), 'allow', 'a mark of a name given up does not concern groups')
})

t.test('API keys, and another tenant, are as before', async (t) => {
  const { json } = await world.admin('POST', '/v1/api-keys', { name: 'K', seats: ['Viewer'] })
  const answer = await world.client.send('GET', '/list', { 'x-api-key': json.key, space: 'main' })
  t.equal(answer.status, 200)
  await world.seat('Viewer', ['main'], ['trainings:list'], 'globex')
  t.equal(await ask('alice', '/list', 'globex'), 'allow')
})

t.test('a grant adds its Seat until it is taken back', async (t) => {
  await scim.user('erin')
  const seat = (await world.admin('GET', '/v1/seats?limit=100')).json.data.find(
    ({ name }: { name: string }) => name === 'Reader',
  )
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const grant = await world.admin('POST', '/v1/grants', { user: 'erin', seat: seat.id, until })
  t.equal(grant.status, 200, grant.body)
  t.equal(await ask('erin'), 'allow')
  t.equal((await world.admin('DELETE', `/v1/grants/${grant.json.id}`)).status, 204)
  t.equal(await ask('erin'), NO_SEAT)
  const again = await world.admin('POST', '/v1/grants', { user: 'erin', seat: 'Reader', until })
  t.equal(again.status, 200, again.body)
  t.equal(await ask('erin'), 'allow')
  t.equal((await world.admin('DELETE', `/v1/seats/${seat.id}`)).status, 204)
  t.equal(await ask('erin'), NO_SEAT, 'it holds its Seat by id')
})

t.test('a grant ends with the user, and who is made again has it not', async (t) => {
  const id = await scim.user('leaver', { externalId: 'leaver' })
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const given = await world.admin('POST', '/v1/grants', { user: 'leaver', seat: 'Viewer', until })
  t.equal(await ask('leaver'), 'allow', given.body)
  await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
  t.match(await ask('leaver'), /^40[13] /)
  await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })
  t.match((await world.admin('GET', '/v1/grants?user=leaver')).json.data, [{ id: given.json.id }])
  const { out, err } = await seatgateHere(world.folder, [...WHO_CAN], { ...env, ...SECRETS })
  t.match(out, / {2}leaver by "Viewer"/, err)
  t.equal((await scim.send('DELETE', `/Users/${id}`)).status, 204)
  t.match(await ask('leaver'), /^40[13] /)
  await scim.user('leaver', { externalId: 'leaver' })
  t.match(await ask('leaver'), /^40[13] /)
  t.same((await world.admin('GET', '/v1/grants?user=leaver')).json.data, [])
})

t.test('the commands say that the users are exact', async (t) => {
  await world.seat('Exact', ['main'], ['trainings:list'])
  const id = await scim.user('iris')
  const group = await scim.group('Exact', [id])
  const run = (...args: string[]) => seatgateHere(world.folder, args, { ...env, ...SECRETS })
  const who = await run(...WHO_CAN)
  t.match(who.out, '\nUsers, exactly: by their SCIM groups now or a grant\n')
  t.match(who.out.replaceAll('\n', ' '), / users?\. The users are exact\. /)
  t.equal(JSON.parse((await run(...WHO_CAN, '--json')).out).exact, true)
  const ofIris = ['can', '--user', 'iris', '--tenant', 'acme']
  t.match(await run(...ofIris), { out: /\/list/, err: /note: exact: the Seats are those of SCIM groups/ })
  const rows = JSON.parse((await run(...ofIris, '--json')).out)
  t.ok(rows.length > 0 && rows.every(({ exact }: { exact: boolean }) => exact))
  const plan = (seats: string) => {
    writeFileSync(join(world.folder, 'seats.yaml'), `tenant: acme\nseats: ${seats}\n`)
    const at = ['--url', `http://127.0.0.1:${world.port}`, '--api-key', world.keys['acme'] ?? '']
    return run('seats', 'plan', 'seats.yaml', ...at)
  }
  const emptied = await plan('{ Exact: { spaces: [main], permissions: [] } }')
  t.match(emptied, { code: 3, out: /\nusers are exact: those who have the Seats by their SCIM groups now\n/ })
  t.notMatch(emptied.out, 'then held')
  await scim.group('Crew', [id])
  const added = await plan('{ Crew: { spaces: [main], permissions: [a:b] } }')
  t.match(added, { code: 3, out: /\n {4}then held by 1 user\n/ })
  t.equal((await scim.send('DELETE', `/Groups/${group}`)).status, 204)
})

t.test('a user of many groups, whose authorization is cached', async (t) => {
  const id = await scim.user('frank')
  const names = Array.from({ length: 20 }, (_, at) => `Group ${at}`)
  for (const name of names) await scim.group(name, [id])
  for (let times = 0; times < 3; times++) t.equal(await ask('frank'), NO_SEAT)
  await world.seat('Group 19', ['main'], ['trainings:list'])
  t.equal(await ask('frank'), 'allow')
})

t.test('explain says by which group or grant the user has a Seat', async (t) => {
  await world.seat('Explained', ['main'], ['trainings:list'])
  await scim.group('Explained', [await scim.user('gina')])
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const grant = await world.admin('POST', '/v1/grants', { user: 'gina', seat: 'Author', until })
  t.equal(grant.status, 200, grant.body)
  const explain = async (more: object, space = 'admin') => {
    const body = { method: 'GET', path: '/list', space: 'main', user: 'gina', ...more }
    return (await world.admin('POST', '/v1/access/explain', body, 'acme', space)).json
  }
  const { code, seats } = await explain({})
  t.equal(code, 'allow')
  t.strictSame(
    seats.map(({ name, verdict, via }: { name: string; verdict: string; via: object }) => ({
      name,
      verdict,
      via,
    })),
    [
      { name: 'Explained', verdict: 'grants', via: { group: 'Explained' } },
      { name: 'Author', verdict: 'grants', via: { grant: grant.json.id, until } },
    ],
  )
  t.equal((await explain({ user: 'stranger' })).code, 'no_seat_in_space')
  t.same((await explain({ user: null, seats: ['Explained'] })).seats[0].via, undefined)
})
