/** With several workers, each answers with its own memory: no answer is older than a change that has ended. */

import t from 'tap'
import { Client } from '../../support/client.ts'
import { served } from '../../support/served.ts'
import { onRoute, startPep } from './support.ts'

t.test('a change counts in every worker', async (t) => {
  const { world, port, key } = await startPep(t, { top: ['workers: 2'] })
  // Several connections: the workers share them.
  const clients = Array.from({ length: 4 }, () => new Client(port))
  t.teardown(() => clients.forEach((client) => client.close()))
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const question = JSON.stringify(onRoute('seat:Viewer', 'GET', '/v1/trainings', 'main'))
  const decisions = async () =>
    new Set(
      await Promise.all(
        clients.map(async (client) => {
          const ask = () => client.send('POST', '/access/v1/evaluation', headers, question)
          const { json } = await served(ask)
          return json.decision
        }),
      ),
    )
  const id = await world.seat('Viewer', ['main'], [])
  const permit = (permissions: readonly string[]) =>
    served(() => world.admin('PUT', `/v1/seats/${id}`, { permissions }))
  for (let round = 0; round < 2; round++) {
    await permit(['trainings:list'])
    t.same(await decisions(), new Set([true]))
    await permit([])
    t.same(await decisions(), new Set([false]))
  }
})
