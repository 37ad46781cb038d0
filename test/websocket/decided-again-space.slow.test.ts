/** A reload that reads the space elsewhere ends what is open: the upstream was told another space. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { routeTable } from '../support/configuration.ts'
import { startWorld } from '../support/world.ts'
import { openHeld, reevaluated, reevaluatedAgain, serveEvents } from './held.ts'
import { startWebSocketUpstream } from './support.ts'

const routes = (space: string) =>
  ['ws', 'sse'].map((path) => `GET /${path}: { permission: trainings:list, space: { fixed: ${space} } }`)

t.test('another space', async (t) => {
  const { url: target } = await startWebSocketUpstream(t, { serve: serveEvents })
  const world = await startWorld(t, { target, routes: routes('main') })
  await world.seat('Both', ['main', 'dev'], ['trainings:list'])
  const token = await world.token(['main:Both', 'dev:Both'])
  const held = await openHeld(world.port, [`Authorization: Bearer ${token}`])
  const before = await reevaluated(world)
  await world.reload()
  await reevaluatedAgain(world, before, 2)
  await held.staysOpen(t)
  writeFileSync(join(world.folder, 'routes', 'main.yaml'), routeTable(routes('dev')))
  await world.reload()
  await held.cut(t, 'space_conflict')
})

t.test('a route that needs no space any more stays open', async (t) => {
  const { url: target } = await startWebSocketUpstream(t, { serve: serveEvents })
  const world = await startWorld(t, { target, routes: routes('main') })
  await world.seat('Both', ['main'], ['trainings:list'])
  const held = await openHeld(world.port, [`Authorization: Bearer ${await world.token(['main:Both'])}`])
  const before = await reevaluated(world)
  writeFileSync(
    join(world.folder, 'routes', 'main.yaml'),
    routeTable(['GET /ws: authenticated', 'GET /sse: authenticated']),
  )
  await world.reload()
  await reevaluatedAgain(world, before, 2)
  await held.staysOpen(t)
  held.end()
})
