/** A refused reload is seen until the files are right: a restart before that would fail. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { routeTable } from '../support/configuration.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'

t.test('a refused reload', async (t) => {
  const gateway = await startGatewayProcess(t)
  const table = join(gateway.folder, 'routes', 'main.yaml')
  const refused = async () => ((await gateway.ready()).body['config'] as { refused?: unknown }).refused
  const filesOk = () => gateway.metric('seatgate_config_files_ok')
  t.equal(await refused(), undefined)
  t.equal(await filesOk(), 1)

  const right = readFileSync(table, 'utf8')
  writeFileSync(table, routeTable(['GET /a: nonsense', 'GET /b//c: public']))
  gateway.signal('SIGHUP')
  await until(async () => (await refused()) !== undefined, 'the refusal')
  t.equal((await gateway.ready()).status, 200, 'it goes on with the previous tables')
  t.match(await refused(), { at: /^\d{4}-.*Z$/, faults: 2, first: /routes\/main\.yaml:3:\d+: / })
  t.equal(await filesOk(), 0)

  writeFileSync(table, right)
  gateway.signal('SIGHUP')
  await until(async () => (await refused()) === undefined, 'its end')
  t.equal(await filesOk(), 1)

  const file = join(gateway.folder, 'gateway.config.yaml')
  const settings = readFileSync(file, 'utf8')
  writeFileSync(file, settings.replace('seatgate.db', 'other.db'))
  gateway.signal('SIGHUP')
  await until(async () => (await refused()) !== undefined, 'the refusal of a setting that needs a restart')
  t.match(await refused(), { faults: 1, first: /store requires a restart/ })
})
