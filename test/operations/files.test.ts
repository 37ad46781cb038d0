/** Too few file descriptors: the gateway warns, keeps running, and recovers when descriptors are free. */

import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../runtime/workers/support.ts'
import { OperatedGateway } from './gateway.ts'
import { startService } from './service.ts'
import { WireClient } from './wire-client.ts'

const FILES = 100

async function start(t: Test, top: readonly string[] = []): Promise<OperatedGateway> {
  const { url } = await startService(t, 'main', (_request, response) => response.end('ok'))
  const through = ['sh', '-c', `ulimit -n ${FILES}; exec "$@"`, 'sh']
  return OperatedGateway.start(t, { targets: [url], top, through })
}

/** Warnings about files: on a busy machine, a start also warns that it waits for its store. */
const warnings = (gateway: OperatedGateway) =>
  gateway.remarks.filter(({ level, msg }) => level === 'warn' && /ulimit/.test(`${msg}`))

t.test('more connections than file descriptors', async (t) => {
  const gateway = await start(t)
  t.match(
    warnings(gateway)[0],
    { open_files: FILES, needed: 18_368, msg: /ulimit -n/ },
    'warned at the start',
  )
  const ask = () => new WireClient(gateway.port, false).send('GET', '/docs/a')
  t.match(await ask(), { status: 200 })
  const sockets: Socket[] = []
  const more = (count: number) => {
    for (let i = 0; i < count; i++) sockets.push(connect(gateway.port, '127.0.0.1').on('error', () => {}))
  }
  more(FILES * 2)
  await until(() => gateway.files >= FILES - 2)
  // No connection can be accepted: repeated attempts are closed.
  for (let i = 0; i < 20; i++) {
    more(20)
    await sleep(20)
  }
  t.ok(gateway.running)
  t.ok(gateway.remarks.length < 20, `${gateway.remarks.length} log lines beside requests`)
  for (const socket of sockets) socket.destroy()
  await until(async () => {
    const outcome = await ask().catch(() => null)
    return outcome?.kind === 'answer' && outcome.status === 200
  })
  await until(async () => (await gateway.ready()).status === 200)
  t.ok(gateway.running, 'without a restart')
})

t.test('no warning when the limit is high enough', async (t) => {
  const { url } = await startService(t, 'main')
  const gateway = await OperatedGateway.start(t, {
    targets: [url],
    upstream: ['connections: 16'],
    top: ['limits: { connections: 100 }'],
  })
  t.same(warnings(gateway), [])
})
