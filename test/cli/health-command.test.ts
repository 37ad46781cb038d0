/** `seatgate health` finds the operations listener of a gateway by the configuration. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { seatgateHere } from './in-process.ts'

const gateway = await startGatewayProcess(t, { top: ['drain_delay: 1m'] })
const { port } = new URL(gateway.ops)

/** Asks by a configuration of its own. */
function health(text: string, ...args: string[]) {
  writeFileSync(join(gateway.folder, 'health.yaml'), text)
  return seatgateHere(gateway.folder, ['health', '--config', 'health.yaml', ...args], { OPS_PORT: port })
}

t.test('it follows ops', async (t) => {
  for (const [host, asked] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['[::]', '127.0.0.1'],
    ['localhost', 'localhost'],
    ['[::ffff:127.0.0.1]', '[::ffff:127.0.0.1]'],
  ] as const) {
    const ran = await health(`ops: "${host}:\${OPS_PORT}"\n`)
    t.same(ran, { code: 0, out: `http://${asked}:${port}/livez: 200\n`, err: '' }, host)
  }
})

t.test('a variable of .env counts, and faults of other settings do not', async (t) => {
  writeFileSync(join(gateway.folder, '.env'), `FROM_FILE=${port}\n`, { mode: 0o600 })
  const text = 'listn: x\nops: 127.0.0.1:${FROM_FILE}\nstore: ${UNSET}\ntenants: {}\nroutes: [none/*.yaml]\n'
  t.match(await health(text), { code: 0, err: '' })
})

t.test('nothing to ask', async (t) => {
  t.match(await health('ops: 127.0.0.1:0\n'), { code: 1, out: '', err: /health\.yaml has port 0/ })
  t.match(await health(`ops: "[::1]:${port}"\n`), {
    code: 1,
    out: '',
    err: /\[::1\]:\d+\/livez did not answer/,
  })
  t.match(await seatgateHere(gateway.folder, ['health', '--config', 'nowhere.yaml']), {
    code: 1,
    out: '',
    err: /^nowhere\.yaml:1:1: /,
  })
})

t.test('a gateway that drains lives, and is not ready', async (t) => {
  const text = `ops: 127.0.0.1:${port}\n`
  t.match(await health(text, '--ready'), { code: 0, out: /\/readyz: 200\n$/ })
  gateway.signal('SIGTERM')
  await until(async () => (await gateway.ready()).status === 503, 'the drain')
  t.match(await health(text, '--ready'), { code: 1, out: '', err: /\/readyz did not answer 200: 503\n$/ })
  t.match(await health(text), { code: 0, err: '' })
  await gateway.kill()
  t.match(await health(text), { code: 1, out: '', err: /did not answer 200: .*ECONNREFUSED/ })
})
