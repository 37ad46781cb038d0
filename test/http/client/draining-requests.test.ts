/** Requests on a connection that takes no further one: to end them would make no room for others. */

import t from 'tap'
import { RequestPool } from '../../../src/http/client/request-pool.ts'
import { answer, data, goAway, headers, serveFrames } from '../../proxy/http2/raw.ts'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { until } from '../../support/until.ts'
import { PooledRequest } from './pool-requests.ts'
import { poolSettings } from './pool-settings.ts'

/** The streams of a connection. */
const STREAMS = 100
/** Milliseconds before an eviction. */
const DELAY = 100

t.test('streams on a draining connection are not ended for requests that wait', async (t) => {
  const time = holdTime(t)
  let lasts = true
  // Those of the first connection are the slowest.
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    if (!lasts) return void connection.send(answer(stream))
    connection.send(headers(stream, [':status', '200']))
    if (connection !== connections[0]) connection.send(data(stream, 'some of it'))
  })
  const settings = {
    ...poolSettings(port),
    http2: true,
    connections: 1,
    uploads: STREAMS,
    evictionDelay: DELAY,
  }
  const pool = new RequestPool(settings)
  t.teardown(() => pool.destroy())
  const open = async (count: number) => {
    const requests = Array.from(
      { length: count },
      () => new PooledRequest(pool, ['acme', 'mallory'], '/events'),
    )
    await until(() => requests.every(({ status }) => status === 200), `${count} streams`)
    return requests
  }
  const draining = await open(3)
  connections[0]?.send(goAway(5))
  await until(() => [...pool.slots(false)].length === 0, 'the end of the first connection')
  await open(STREAMS)
  t.equal(connections.length, 2)
  time.pass(10 * DELAY)
  lasts = false
  const waiting = new PooledRequest(pool, ['globex', 'carol'], '/short')
  await untilStepped(time, () => waiting.isOver)
  t.equal(waiting.error, null)
  t.notOk(draining.some(({ isOver }) => isOver))
})
