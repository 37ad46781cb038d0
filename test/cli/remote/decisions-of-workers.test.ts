/** `seatgate decisions --follow` of a gateway with workers, whose decisions arrive unsorted. */

import t from 'tap'
import { OutputFailed } from '../../../src/cli/command.ts'
import { startWithWorkers } from '../../runtime/workers/support.ts'
import { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { afar } from './from-afar.ts'

/** All decisions of a busy worker are read. */
const patience = { unresponsive: 120_000, activity: 60_000 }

/** Connections, so that each worker has some, and requests on each of them. */
const CONNECTIONS = 12
const REQUESTS = 8

t.test('decisions of every worker are printed, each once', async (t) => {
  const world = await startWithWorkers(t, 2, { patience })
  await world.seat('Viewer', ['s1'], ['trainings:list'])
  const viewer = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  const { run } = afar(t, world, world.keys['acme'] ?? '')
  const clients = Array.from({ length: CONNECTIONS }, () => new Client(world.port))
  t.teardown(() => clients.forEach((client) => client.close()))
  const send = async (client: Client, path: string) =>
    String((await client.send('GET', path, viewer)).headers['x-request-id'])
  const before = await send(world.client, '/v1/files/before')

  const printed: string[] = []
  const print = async (text: string) => {
    const found = text.split('\n').map((line) => JSON.parse(line))
    printed.push(...found.map(({ request_id }) => request_id))
    if (found.some(({ path }) => path === '/v1/files/last'))
      throw new OutputFailed(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  }
  const args = ['decisions', '--follow', '--json', '--limit', '1', '--code', 'permission_denied']
  const following = run(args, {}, { print })
  await until(() => printed.length > 0, 'the decision before')
  const sent: string[] = []
  for (let each = 0; each < REQUESTS; each++)
    sent.push(...(await Promise.all(clients.map((client) => send(client, '/v1/files/a')))))
  await until(() => sent.every((id) => printed.includes(id)), 'all decisions')
  const last = await send(world.client, '/v1/files/last')
  t.match(await following, { code: 0, err: '' })
  t.same(printed.toSorted(), [before, ...sent, last].toSorted(), 'each once')
})
