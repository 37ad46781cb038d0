/** `seatgate audit` and `seatgate bootstrap --repair`, on a store beside a running gateway. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { openStore, type Writer } from '../../seats-admin/index.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { fetchConforming } from '../support/openapi.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { chainOf, faultsOf } from '../seats-admin/store/audit-chain.ts'
import { ADMIN, done, writer } from '../seats-admin/store/conformance.ts'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

t.jobs = 3
const FILES = { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES }
const VIEWER = { name: 'Viewer', spaces: ['one'], permissions: ['a:b'] }

async function storeIn(t: Test, cwd: string) {
  const store = await openStore({ kind: 'sqlite', path: join(cwd, 'seatgate.db'), timeout: 60_000 })
  t.teardown(() => store.close())
  return store
}

t.test('list, export, verify', async (t) => {
  const cwd = folderWith(t, FILES)
  const run = (...args: string[]) => seatgateHere(cwd, ['audit', ...args, '--tenant', 'acme'])
  t.match(await run('list'), { code: 1, err: /no store/ })
  const store = await storeIn(t, cwd)
  t.match(await run('list'), { code: 0, out: 'no entries\n' })
  t.match(await run('verify'), { code: 0, out: /has no entries/ })
  t.match(await run('export'), { code: 0, out: '' })
  const as: Writer = {
    ...writer(ADMIN, Date.UTC(2026, 10, 21)),
    actor: { kind: 'user', name: 'a\u001b[31m@example.com' },
  }
  const { id } = done(
    await store.createSeat(as, { ...VIEWER, name: 'A Seat with a long name that fits no column' }),
  ).value
  for (let at = 0; at < 130; at++) done(await store.updateSeat({ ...as, by: 'bob' }, id, {}))
  const entries = await chainOf(store)

  await t.test('list', async (t) => {
    const { code, out } = await run('list')
    t.equal(code, 0)
    const lines = out.trimEnd().split('\n')
    t.equal(lines.length, 22, 'names, 20 entries, and that there are more')
    t.ok(lines.every((line) => line.length <= 80))
    t.match(
      lines[1],
      /^131 +2026-11-21T00:00:00Z {2}seat\.update +a\\u001b\[31m@exa\S*… {2}A Seat with a .*…$/,
    )
    const all = JSON.parse((await run('list', '--limit', '1000', '--json')).out)
    t.same(all, { data: entries.toReversed(), has_more: false })
    const some = JSON.parse((await run('list', '--json', '--actor', 'alice')).out)
    t.same(some.data, entries.slice(0, 1))
    t.same(JSON.parse((await run('list', '--json', '--action', 'seat.delete')).out).data, [])
    t.equal(JSON.parse((await run('list', '--json', '--limit', '130')).out).has_more, true)
  })

  await t.test('export', async (t) => {
    const { code, out } = await run('export')
    t.equal(code, 0)
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    t.same(lines, entries)
    t.same(faultsOf(lines), [], 'verifiable from the file alone')
  })

  await t.test('verify', async (t) => {
    const head = `131:${entries[130]?.hash}`
    t.match(await run('verify'), {
      code: 0,
      out: `entries 1 to 131 are as they were written\nnewest: ${head}\n`,
    })
    t.match(await run('verify', '--head', head), { code: 0 })
    t.match(await run('verify', '--head', `131:${'0'.repeat(64)}`), {
      code: 3,
      out: /entry 131 has another hash/,
    })
    t.match(JSON.parse((await run('verify', '--json')).out), {
      intact: true,
      entries: 131,
      head: { seq: 131, hash: entries[130]?.hash },
      findings: [],
    })
    const path = join(cwd, 'seatgate.db')
    using database = new DatabaseSync(path, { timeout: 60_000 })
    database.exec(`UPDATE audit SET actor_id = 'eve' WHERE seq = 100; DELETE FROM audit WHERE seq = 7`)
    const found = await run('verify')
    t.match(found, { code: 3, out: /not intact:\n {2}entry 7 is missing\n {2}entry 100 was changed/ })
    const json = await run('verify', '--json')
    t.equal(json.code, 3)
    t.match(JSON.parse(json.out), {
      intact: false,
      count: 2,
      findings: [
        { seq: 7, fault: 'missing' },
        { seq: 100, fault: 'changed' },
      ],
    })
    database.exec(`UPDATE audit SET after = '{' WHERE seq = 9`)
    t.match(await run('export'), { code: 1, err: /entry 9 cannot be read/ })
  })

  for (const args of [
    ['list', '--limit', '0'],
    ['list', '--since', 'yesterday'],
    ['list', '--action', 'seat.destroy'],
    ['verify', '--limit', '3'],
    ['list', '--head', '1:x'],
    ['verify', '--head', '1:x'],
    ['purge'],
  ])
    t.match(await run(...args), { code: 2 }, args.join(' '))
})

t.test('bootstrap --repair lets a locked-out administrator in, at once', async (t) => {
  const cwd = folderWith(t, FILES)
  const store = await storeIn(t, cwd)
  const { key } = JSON.parse((await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme', '--json'])).out)
  const { origin } = await startGatewayProcess(t, { folder: cwd })
  // A gateway that had no processor for a while does not decide (503).
  const status = async () => {
    let status = 503
    const headers = { 'x-api-key': key, space: 'admin' }
    const isDecided = async () =>
      (status = (await fetchConforming(`${origin}/v1/seats`, { headers })).status) !== 503
    await until(isDecided, 'a decision')
    return status
  }
  t.equal(await status(), 200)
  const { seat } = (await store.seatByName('acme', 'admin')).value
  const stranger = writer({ ...ADMIN, space: 'elsewhere' })
  done(await store.updateSeat(stranger, seat?.id ?? '', { spaces: [], permissions: ['a:b'] }))
  await until(async () => (await status()) !== 200, 'the change of the other program')
  t.match(await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme']), { code: 1, err: /--repair/ })

  const repaired = await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme', '--repair'])
  t.match(repaired, { code: 0, out: /again\.\nspaces: none, now admin\npermissions: a:b, now \*\n/ })
  t.equal(await status(), 200, 'as soon as it is said')
  t.match(await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme', '--repair']), {
    code: 0,
    out: /: nothing was changed\.\nAn API key that holds it: seatgate bootstrap --tenant acme\n$/,
  })
  const again = await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme', '--repair', '--json'])
  t.match(JSON.parse(again.out), {
    result: 'unchanged',
    seat_id: seat?.id,
    after: { spaces: ['admin'], permissions: ['*'] },
  })
  const { out: listed } = await seatgateHere(cwd, ['audit', 'list', '--tenant', 'acme', '--json'])
  t.match(JSON.parse(listed).data, [
    {
      action: 'bootstrap',
      actor: { kind: 'command', id: 'bootstrap' },
      before: { permissions: ['a:b'] },
      after: { permissions: ['*'] },
    },
    { action: 'seat.update' },
    { action: 'bootstrap', before: null, after: { permissions: ['*'], api_key: { name: 'bootstrap' } } },
  ])
  t.match(await seatgateHere(cwd, ['audit', 'verify', '--tenant', 'acme']), { code: 0 })
})

t.test(
  'entries of requests name the caller and the request; the log of a start names the newest entry',
  async (t) => {
    const world = await startWorld(t)
    const made = await world.admin('POST', '/v1/seats', VIEWER)
    const path = `/v1/seats/${made.json.id}`
    await world.seat('Boss', ['admin'], ['*'])
    const token = await world.token(['admin:Boss'], { sub: 'carol' })
    const headers = { authorization: `Bearer ${token}`, space: 'admin', 'content-type': 'application/json' }
    const changed = await world.client.send('PUT', path, headers, '{"permissions":[]}')
    t.equal(changed.status, 200)
    const { data } = (await world.admin('GET', `/v1/audit?target=${made.json.id}`)).json
    t.match(data, [
      {
        actor: { kind: 'user', id: 'carol', name: 'carol@example.com' },
        request_id: changed.headers['x-request-id'],
      },
      {
        actor: { kind: 'api-key', name: 'bootstrap' },
        request_id: made.headers['x-request-id'],
        space: 'admin',
      },
    ])
    const logged = async () =>
      world.log().some(({ tenant, msg }) => msg === 'seatgate_audit_head' && tenant === 'globex')
    await until(logged, () => 'the heads are not logged')
    const heads = world.log().filter(({ msg }) => msg === 'seatgate_audit_head')
    t.match(heads, [
      { tenant: 'acme', seq: 1, hash: /^[0-9a-f]{64}$/ },
      { tenant: 'globex', seq: 1, hash: /^[0-9a-f]{64}$/ },
    ])
    const [first] = (await world.admin('GET', '/v1/audit?action=bootstrap')).json.data
    t.equal(heads[0]?.hash, first.hash)
    t.match(
      await world.client.send('GET', '/v1/audit', {
        ...headers,
        authorization: `Bearer ${await world.token(['admin:Viewer'])}`,
      }),
      { status: 403 },
    )
  },
)
