/** An administrator's day, by commands alone: a team by file, a key, a question, a block, the history, and undoing it. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { env, startWorld } from '../../support/world.ts'
import { openHeld, HELD_ROUTES, serveEvents } from '../../websocket/held.ts'
import { startWebSocketUpstream } from '../../websocket/support.ts'
import { seatgateHere } from '../in-process.ts'
import { afar, signedIn } from './from-afar.ts'

const TEAM = `tenant: acme
seats:
  Coach: { spaces: [s1], permissions: [trainings:list, trainings:read, trainings:create] }
  Viewer: { spaces: [s1], permissions: [trainings:list] }
  Cleaner: { spaces: [s1], permissions: [trainings:delete] }
`
const PEOPLE = { ann: 'Coach', bob: 'Viewer', carol: 'Viewer', dan: 'Viewer', eve: 'Cleaner' }

t.test('a day', async (t) => {
  const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
  const routes = [...HELD_ROUTES, 'DELETE /v1/trainings/{id}: trainings:delete']
  const world = await startWorld(t, { routes, target: upstream.url })
  const { done, run, folder } = afar(t, world, world.keys['acme'] ?? '', { 'team.yaml': TEAM })

  // A team of five, by file.
  t.equal((await run(['seats', 'plan', 'team.yaml', '--out', 'team.plan'])).code, 3)
  t.match(await done('seats', 'apply', 'team.plan'), 'applied: 3 changes')
  const seats = new Map<string, string>(
    JSON.parse(await done('seats', 'list', '--json')).data.map(
      ({ name, id }: { name: string; id: string }) => [name, id],
    ),
  )
  for (const [user, seat] of Object.entries(PEOPLE))
    await signedIn(world, { [user]: `${user}@acme.example` }, [seats.get(seat) ?? ''])
  t.equal(JSON.parse(await done('users', 'list', '--json')).data.length, 5)

  // A key for the nightly export.
  const key = (await done('keys', 'create', 'nightly-export', '--seat', 'Viewer', '--expires', '90d')).trim()
  const held = await openHeld(world.port, [`x-api-key: ${key}`, 'Space: s1'])
  await held.staysOpen(t)

  // Who may delete?
  const config = ['--config', world.config.file]
  const who = await seatgateHere(
    folder,
    ['who-can', 'DELETE', '/v1/trainings/7', '--tenant', 'acme', ...config],
    env,
  )
  t.equal(who.err, '')
  t.match(who, { code: 0, out: /\n {2}"Cleaner" in s1\n[^]*\n {2}eve <eve@acme\.example> by "Cleaner"/ })
  t.notMatch(who.out, /ann|bob|carol|dan/)

  // Eve leaves: what she has open is cut, and no token of hers passes.
  await done('seats', 'update', 'Cleaner', '--add', 'trainings:list')
  const eve = [`Authorization: Bearer ${await world.token(['s1:Cleaner'], { sub: 'eve' })}`, 'Space: s1']
  const open = await openHeld(world.port, eve)
  t.match(await done('users', 'block', 'eve@acme.example', '--reason', 'left the company'), 'blocked eve\n')
  await open.cut(t, 'caller_blocked')
  await held.staysOpen(t)

  // What happened to the Seat, and back again.
  const history = await done('seats', 'show', 'Cleaner', '--history')
  t.match(
    history,
    /seat\.create[^]*\+ permission trainings:delete\n[^]*seat\.update[^]*\+ permission trainings:list\n$/,
  )
  t.match(await done('audit', 'list', '--action', 'block.create'), /block\.create +bootstrap +eve/)
  writeFileSync(join(folder, 'again.yaml'), TEAM)
  const undo = await run(['seats', 'apply', 'again.yaml'])
  t.match(undo, { code: 0, out: /~ "Cleaner"\n {4}- permission trainings:list\n {4}held by 1 user\n/ })
  await done('users', 'unblock', 'eve@acme.example')
  t.equal(
    (await world.client.send('GET', '/ws', Object.fromEntries(eve.map((line) => line.split(': '))))).status,
    403,
  )
  await held.staysOpen(t)
})
