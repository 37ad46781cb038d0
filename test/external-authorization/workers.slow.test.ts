/** Questions to several workers, and configurations that change. */

import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { Client } from '../support/client.ts'
import { nginxFields, startAsking } from './support.ts'

t.test('workers share the port, and a revocation holds on each of them', async (t) => {
  const { world, port } = await startAsking(t, { top: ['workers: 2'] })
  // The kernel chooses the worker of each connection.
  const clients = Array.from({ length: 8 }, () => new Client(port))
  t.teardown(() => clients.forEach((client) => client.close()))
  for (let round = 0; round < 2; round++) {
    const made = await world.admin('POST', '/v1/api-keys', { name: `round ${round}`, seats: ['reader'] })
    const fields = { ...nginxFields('GET', '/v1/trainings/7'), 'x-api-key': made.json.key, space: 'main' }
    const statuses = () =>
      Promise.all(clients.map(async (client) => (await client.send('GET', '/auth/nginx', fields)).status))
    t.same(
      await statuses(),
      clients.map(() => 200),
    )
    t.equal((await world.admin('DELETE', `/v1/api-keys/${made.json.id}`)).status, 204)
    t.same(
      await statuses(),
      clients.map(() => 401),
    )
  }
})

t.test('clients change by a reload; the address needs a restart', async (t) => {
  const { world, port } = await startAsking(t)
  const { file } = world.config
  const text = readFileSync(file, 'utf8')
  const ask = async () => {
    const client = new Client(port)
    const { status } = await client.send('GET', '/auth/nginx', nginxFields('GET', '/docs/a'))
    client.close()
    return status
  }
  t.equal(await ask(), 200)
  writeFileSync(file, text.replace('listen: 127.0.0.1:0 }', 'listen: 127.0.0.1:0, clients: [10.0.0.0/8] }'))
  await world.reload()
  t.equal(await ask(), 403)
  writeFileSync(file, text)
  await world.reload()
  t.equal(await ask(), 200)
  writeFileSync(file, text.replace(/^decision: .*$/m, ''))
  await t.rejects(world.reload(), /a change of decision requires a restart/)
  t.equal(await ask(), 200)
})
