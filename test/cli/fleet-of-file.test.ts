/** `seatgate fleet` on a store in a file: the one gateway that runs on it. */

import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import t from 'tap'
import { packageRoot, versionOf } from '../../src/config/package-version.ts'
import { shownGateway } from '../../seats-admin/index.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { seatgateHere } from './in-process.ts'
import { afar } from './remote/from-afar.ts'

const SECRETS = {
  ACME_SECRET: 'an acme secret of at least 32 bytes',
  GLOBEX_SECRET: 'a globex secret of at least 32 bytes',
}

t.test('the running gateway is listed', async (t) => {
  const world = await startWorld(t)
  const { code, out, err } = await seatgateHere(
    world.folder,
    ['fleet', '--json', '--config', world.config.file],
    SECRETS,
  )
  t.equal(code, 0, err)
  const { seq, instances } = JSON.parse(out)
  const version = versionOf(packageRoot())
  const shown = { config: world.config.hash, differs: false, version, url: null }
  t.match(instances, [{ name: `${hostname()} ${process.pid}`, seq, behind: 0, age_ms: 0, ...shown }])
  t.match(instances[0].id, /^[\da-f-]{36}$/)
  t.ok(Math.abs(Date.now() - Date.parse(instances[0].started_at)) < 600_000)
  const text = await seatgateHere(world.folder, ['fleet', '--config', world.config.file], SECRETS)
  t.match(text.out.replaceAll(/\s+/g, ' '), `A gateway uses this store: version ${version}, started at 2`)
  t.match(text.out, world.config.hash)

  await t.test('a gateway tells more', async (t) => {
    const { run } = afar(t, world, world.keys['acme'] ?? '')
    await world.seat('Viewer', ['main'], ['trainings:list'])
    const url = `http://127.0.0.1:${world.port}`
    const asked = await run(['fleet', '--url', url, '--json'])
    t.equal(asked.code, 0, asked.err)
    const { data, changes } = JSON.parse(asked.out)
    t.match(data, [{ hash: world.config.hash, url: null }])
    t.match(changes, [{ kind: 'seat-name' }, { kind: 'seat' }])
    const shown = await run(['fleet', '--url', url])
    t.match(shown.out, new RegExp(`^live +seq 8 .* ${world.config.hash} .* -$`, 'm'))
    t.match(shown.out, /^seq 8 +seat-name +\d{4}-\S+Z +[\d.]+ ms$/m)
    const elsewhere = await run(['fleet', '--url', url, '--space', 'main'])
    t.equal(elsewhere.code, 1)
    t.match(elsewhere.err, 'no_seat_in_space')
  })

  await t.test('it is waited for, by its tables and its secrets', async (t) => {
    const run = (...args: string[]) =>
      seatgateHere(world.folder, [...args, '--config', world.config.file], SECRETS)
    const { hash } = world.config
    const done = await run('fleet', '--wait', hash, '--json')
    t.equal(done.code, 0, done.err)
    t.match(JSON.parse(done.out).instances, [{ config: hash, refused: null, checks_files: true }])
    world.gateway.reloadRefused(['routes/main.yaml:1:1: a fault'])
    const shown = () => shownGateway(world.storeFile)
    await until(async () => (await shown())?.refused != null, 'the refusal')
    const late = await run('fleet', '--wait', '000000000000', '--within', '1s')
    t.equal(late.code, 3)
    t.match(late.err, `decides by ${hash}; refused its files at `)
    t.match(late.err, ': 1 fault: routes/main.yaml:1:1: a fault')
    world.gateway.reloaded()
    await until(async () => (await shown())?.refused === null, 'the end of the refusal')
    const status = await run('secrets', 'status', '--json')
    t.equal(status.code, 0, status.err)
    const [acme, globex] = JSON.parse(status.out)
    t.match([acme, globex], [{ tenant: 'acme' }, { tenant: 'globex' }])
    const { signs } = acme.instances[0]
    t.match(acme.instances, [{ name: `${hostname()} ${process.pid}`, signs, accepts: [signs] }])
    t.match(await run('secrets', 'wait', 'acme', '--signs', signs), { code: 0 })
    t.match(await run('secrets', 'wait', 'acme', '--without', signs, '--within', '1s'), {
      code: 3,
      err: /did not stop accepting/,
    })
  })

  await t.test('a gateway whose file has a time that no date has is listed without it', async (t) => {
    const file = `${world.folder}/seatgate.db.gateway`
    const shown = readFileSync(file, 'utf8')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(shown), startedAt: 9e15 }))
    const listed = await seatgateHere(
      world.folder,
      ['fleet', '--json', '--config', world.config.file],
      SECRETS,
    )
    writeFileSync(file, shown)
    t.equal(listed.code, 0, listed.err)
    t.match(JSON.parse(listed.out).instances, [{ id: 'file', started_at: null }])
  })

  await t.test('an API key alone asks SEATGATE_URL; the variable alone does not', async (t) => {
    const { run } = afar(t, world, world.keys['acme'] ?? '')
    t.equal((await run(['fleet', '--api-key', world.keys['acme'] ?? ''])).code, 0)
    t.match(await run(['fleet']), { code: 1, err: /gateway\.config\.yaml/ })
    t.equal((await run(['fleet', '--api-key', 'x'], { SEATGATE_URL: undefined })).code, 2)
  })
})
