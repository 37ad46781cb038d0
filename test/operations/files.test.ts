/** Too few file descriptors: the gateway warns, keeps running, and recovers when descriptors are free. */

import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { openFilesOf } from './process-status.ts'
import { startService } from './service.ts'
import { WireClient } from './wire-client.ts'

const FILES = 100

async function start(t: Test): Promise<GatewayProcess> {
  const { url } = await startService(t, 'main', (_request, response) => response.end('ok'))
  const through = ['sh', '-c', `ulimit -n ${FILES}; exec "$@"`, 'sh']
  // No accepted connection ends while the test runs.
  const top = ['limits: { header_timeout: 10m }']
  return startGatewayProcess(t, { target: url, top, through })
}

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

/** Warnings about files: on a busy machine, a start also warns that it waits for its store. */
const warnings = (gateway: GatewayProcess) =>
  gateway.lines().filter(({ level, msg }) => level === 'warn' && /ulimit/.test(`${msg}`))

t.test('more connections than file descriptors', async (t) => {
  const gateway = await start(t)
  t.match(
    warnings(gateway)[0],
    { open_files: FILES, needed: 18_368, msg: /yaml:1:1: limits\.connections \(default\): .* \("ulimit -n / },
    'warned at the start',
  )
  const ask = () => new WireClient(gateway.port, false).send('GET', '/docs/a')
  t.match(await ask(), { status: 200 })
  const sockets: Socket[] = []
  const more = (count: number) => {
    const added = Array.from({ length: count }, () =>
      connect(gateway.port, '127.0.0.1').on('error', () => {}),
    )
    sockets.push(...added)
    return added
  }
  more(FILES * 2)
  await until(
    () => openFilesOf(gateway.pid) >= FILES - 2,
    () => `${openFilesOf(gateway.pid)} files are open`,
  )
  // Repeated attempts are closed, except one where the gateway has closed a file of its own: it accepts that one, and
  // keeps it. An idle connection to the target ends that way after some seconds.
  for (let i = 0; i < 20; i++) await Promise.race(more(20).map(closed))
  t.ok(gateway.running)
  t.ok(gateway.lines().length < 20, `${gateway.lines().length} log lines beside requests`)
  for (const socket of sockets) socket.destroy()
  await until(
    async () => {
      const outcome = await ask().catch(() => null)
      return outcome?.kind === 'answer' && outcome.status === 200
    },
    () => 'no answer after the connections are closed',
  )
  await until(
    async () => (await gateway.ready()).status === 200,
    () => 'not ready after the connections are closed',
  )
  t.ok(gateway.running, 'without a restart')
})
