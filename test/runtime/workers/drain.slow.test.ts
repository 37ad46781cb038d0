/** The end of a gateway with workers: requests in flight finish, the log is complete, and no process is left. */

import { createServer } from 'node:http'
import t from 'tap'
import { startService } from '../../operations/service.ts'
import { Client } from '../../support/client.ts'
import { GatewayProcess, startGatewayProcess } from '../../support/gateway-process.ts'
import { listen } from '../../support/listen.ts'
import { until } from '../../support/until.ts'
import { workersOf } from '../../support/workers.ts'

const TWO = ['workers: 2']

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} to the process group: requests in flight finish, exit code 0`, async (t) => {
    const held: (() => void)[] = []
    const { url } = await startService(t, 'main', (_request, response) => {
      held.push(() => response.end('done'))
    })
    const gateway = await startGatewayProcess(t, { target: url, top: TWO })
    const workers = workersOf(gateway.pid)
    t.equal(workers.length, 2)
    const clients = Array.from({ length: 20 }, () => new Client(gateway.port))
    const answers = clients.map((client) => client.send('GET', '/docs/a'))
    await until(
      () => held.length === 20,
      () => `${held.length} requests at the upstream`,
    )
    process.kill(-gateway.pid, signal)
    await until(() => gateway.lines().some(({ msg }) => msg === 'draining'), 'the drain')
    for (const answer of held) answer()
    for (const answer of await Promise.all(answers)) t.match(answer, { status: 200, body: 'done' })
    t.equal(await gateway.ended, 0)
    for (const client of clients) client.close()
    t.equal(gateway.lines('requests').length, 20, 'each line is complete, and none is lost')
    t.notOk(workers.some(runs))
  })
}

t.test('the workers of a killed primary end', async (t) => {
  const gateway = await startGatewayProcess(t, { top: TWO })
  const workers = workersOf(gateway.pid)
  t.equal(workers.length, 2)
  gateway.signal('SIGKILL')
  await until(() => !workers.some(runs), 'the end of the workers')
})

t.test('a port in use ends the start with one message, and no process is left', async (t) => {
  const taken = `127.0.0.1:${await listen(t, createServer())}`
  const gateway = await GatewayProcess.launch(t, { listen: taken, top: TWO })
  t.equal(await gateway.ended, 1)
  const lines = gateway.log.trimEnd().split('\n')
  const faults = lines.filter((line) => !line.startsWith('{'))
  t.equal(faults.length, 1, gateway.log)
  t.match(faults[0], /yaml:1:9: listen: .*EADDRINUSE/)
  t.same(workersOf(gateway.pid), [])
})
