/** Several processes on one port: once a change has been acknowledged, none of them decides on the old state. */

import t from 'tap'
import { Client } from '../../support/client.ts'
import { startWorld } from '../../support/world.ts'

t.test('updates and requests on many connections to three workers, without a stale decision', async (t) => {
  const world = await startWorld(t, { top: ['workers: 3'] })
  const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  // Connections alternate between workers, so nine of them reach every worker.
  const clients = Array.from({ length: 9 }, () => new Client(world.port))
  let stale = 0
  for (let round = 0; round < 200; round++) {
    const grant = round % 2 === 1
    const written = await world.admin('PUT', `/v1/seats/${id}`, {
      permissions: [grant ? 'trainings:list' : 'trainings:read'],
    })
    if (written.status !== 200) throw new Error(`${written.status} ${written.body}`)
    const answers = await Promise.all(clients.map((each) => each.send('GET', '/v1/trainings', headers)))
    stale += answers.filter(({ status }) => status !== (grant ? 200 : 403)).length
  }
  for (const client of clients) client.close()
  t.equal(stale, 0)
})
