/** A gateway moves its tables from files to the store and back, with one command each way. */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import { Client } from '../../support/client.ts'
import { reservePort } from '../../support/servers/ports.ts'
import { startPushed, tableOf } from '../../tables/pushing.ts'
import { seatgateAt, seatgateHere } from '../in-process.ts'
import { afar } from '../remote/from-afar.ts'

const SECRETS = { GLOBEX_SECRET: 'g'.repeat(32) }

t.test('over and back', async (t) => {
  const port = await reservePort(t)
  const world = await startPushed(t, {
    listen: `127.0.0.1:${port}`,
    tablesFrom: 'files',
    top: ['routes: [routes/*.yaml]'],
    routes: ['GET /gate: public'],
  })
  const { gateway, key } = world
  const { folder } = gateway
  const main = join(folder, 'gateway.config.yaml')
  const inFiles = readFileSync(main, 'utf8')
  const inStore = inFiles.replace('tables: files', 'tables: store').replace('routes: [routes/*.yaml]\n', '')
  t.not(inStore, inFiles)
  writeFileSync(join(folder, 'stored.yaml'), inStore)
  const run = (...args: string[]) => seatgateHere(folder, args, SECRETS)
  const push = ['tables', 'push', 'routes', '--config', 'stored.yaml']
  const status = async () => {
    const client = new Client(port)
    const { status } = await client.send('GET', '/gate')
    client.close()
    return status
  }
  const restart = async () => {
    await gateway.kill()
    await gateway.start()
    await gateway.comesUp(async () => (await status().catch(() => 0)) !== 0)
  }
  t.equal(await status(), 200)

  t.match(await run(...push.slice(0, 4), 'gateway.config.yaml'), {
    code: 1,
    err: /has its route tables in files/,
  })
  t.match(await run(...push), {
    code: 1,
    err: /routes would replace version 0 in the store, which needs --yes/,
  })
  t.match(await run(...push, '--url', 'http://127.0.0.1:9'), { code: 2, err: /--config and --url exclude/ })
  const moved = await run(...push, '--yes')
  t.match(moved, {
    code: 0,
    out: /became_public {2}GET \/gate[^]*\nstored: version 1, hash \w{12}, 1 route\. /,
  })
  const store = await openStore({ kind: 'sqlite', path: join(folder, 'seatgate.db') })
  const [entry] = (await store.listTables('acme', { limit: 1, after: null })).data
  await store.close()
  t.match(entry?.createdBy, { kind: 'command', id: 'tables push' })
  t.match(await run('diff', '.', 'stored.yaml'), { code: 0 }, 'the new configuration answers as the old one')
  t.match(await run(...push), { code: 0, out: /the tables are equal[^]*stored: version 1,/ }, 'again')

  writeFileSync(main, inStore)
  await restart()
  t.equal(await status(), 200, 'from the first request on')
  writeFileSync(join(folder, 'routes/main.yaml'), tableOf('authenticated'))
  t.match(await run(...push, '--yes'), {
    code: 1,
    out: '',
    err: /a gateway decides by the tables in this store/,
  })
  const { run: remote } = afar(t, gateway, key)
  const pushed = await seatgateAt({}, folder, ['tables', 'push', 'routes', '--yes'], {
    SEATGATE_URL: `http://127.0.0.1:${gateway.port}`,
    SEATGATE_API_KEY: key,
  })
  t.match(pushed, { code: 0, out: /active: version 2,/ })
  t.equal(await status(), 401)

  t.match(await remote(['tables', 'pull', folder + '/back']), { code: 0, out: /version 2: 1 file written/ })
  rmSync(join(folder, 'routes'), { recursive: true })
  writeFileSync(main, inFiles.replace('routes/*.yaml', 'back/*.yaml'))
  await restart()
  t.equal(await status(), 401)
  t.same(readdirSync(join(folder, 'back')), ['main.yaml'])
})

t.test('faults come before anything is written', async (t) => {
  const world = await startPushed(t)
  await world.gateway.kill()
  const { folder } = world.gateway
  writeFileSync(join(folder, 'routes/main.yaml'), 'upstream: mian\nroutes: {}\n')
  const config = readFileSync(join(folder, 'gateway.config.yaml'), 'utf8')
  writeFileSync(join(folder, 'gateway.config.yaml'), config.replace('seatgate.db', 'new.db'))
  const args = ['tables', 'push', 'routes', '--config', 'gateway.config.yaml', '--yes']
  const ran = await seatgateHere(folder, args, SECRETS)
  t.match(ran, { code: 1, out: '', err: /^routes\/main\.yaml:1:11: / })
  t.notOk(existsSync(join(folder, 'new.db')))
})
