/** What is open when route tables are pushed is decided again by them, and the answer says how much was cut. */

import t from 'tap'
import { startFleet } from '../fleet/fleet.ts'
import { startOpenUpstream } from '../fleet/open-exchanges.ts'
import { Revoking } from '../fleet/revoking.ts'
import { routeTable } from '../support/configuration.ts'
import { Pusher } from './pushing.ts'

const { open, upstream } = await startOpenUpstream(t)
const fleet = await startFleet(t, {
  redis: 'none',
  proxies: [],
  upstream,
  tablesFrom: 'store',
  workers: (name) => (name === 'b' ? 2 : 1),
})
const { gateways } = fleet
const pusher = new Pusher(fleet.first.port, fleet.key)
t.teardown(() => pusher.close())
const revoking = await Revoking.at(fleet)

/** The tables in which each route requires this. */
const tables = (requirement: string) => ({
  'main.yaml': routeTable(upstream.routes.map((line) => line.replace('trainings:list', requirement))),
})

t.test('the streams, WebSockets and waiting requests of callers who lose access are cut', async (t) => {
  const pushed = await pusher.push(tables('trainings:list'))
  t.equal(pushed.status, 200, pushed.body)
  const token = await revoking.token('alice')
  const exchanges = await Promise.all(gateways.map((gateway) => open(gateway, token)))

  const same = await pusher.push({ ...tables('trainings:list'), 'limits.yaml': 'rate_limits: {}\n' })
  t.match(same.json.instances, [{ cut: 0 }, { cut: 0 }, { cut: 0 }], 'other tables that allow the same')
  for (const each of exchanges.flat()) t.ok(each.isOpen, each.kind)
  await Promise.all(exchanges.flat().map((each) => each.kind === 'requests' || each.passes()))

  const { json } = await pusher.push(tables('trainings:delete'))
  t.match(
    json.instances,
    [{ cut: 3 }, { cut: 3 }, { cut: 3 }],
    'a WebSocket, a download and a request that waits',
  )
  const upstreams = exchanges.map(([webSocket, download, waiting]) => [webSocket, download, waiting])
  for (const each of upstreams.flat()) await each?.cut()
  for (const [, , , events] of exchanges) t.ok(events?.isOpen, 'events of the gateway require what they did')
})

t.test('a public route that requires a credential now', async (t) => {
  await pusher.push(tables('public'))
  const token = await revoking.token('bob')
  const exchanges = await Promise.all(gateways.map((gateway) => open(gateway, token)))
  const { json } = await pusher.push(tables('authenticated'))
  t.match(json.instances, [{ cut: 0 }, { cut: 0 }, { cut: 0 }], 'which they have')
  for (const each of exchanges.flat()) t.ok(each.isOpen, each.kind)
  const gone = await pusher.push({})
  t.match(gone.json.instances, [{ cut: 3 }, { cut: 3 }, { cut: 3 }], 'no route is left')
})
