/** A reload is atomic and costs no request. */

import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Client } from '../support/client.ts'
import { until } from '../support/until.ts'
import { routeTable } from '../support/configuration.ts'
import { startUpstream, startWorld, type World } from '../support/world.ts'

const write = (world: World, routes: string[]) =>
  writeFileSync(join(world.folder, 'routes', 'main.yaml'), routeTable(routes))

/** Refuses each reload of the tests that share it, but the first of the last one. */
const refusing = await startWorld(t)

t.test('the next request uses the new table', async (t) => {
  const world = await startWorld(t)
  t.equal((await world.client.send('GET', '/new')).status, 404)
  write(world, ['GET /new: public'])
  await world.reload()
  t.equal((await world.client.send('GET', '/new')).status, 200)
  t.equal((await world.client.send('GET', '/docs/a')).status, 404)
  t.match(await (await fetch(`${world.ops}/readyz`)).json(), { config: { version: 2 } })
})

t.test('a table with faults changes nothing', async (t) => {
  for (const routes of [
    ['GET /docs/*: public', 'GET /docs/*: public'],
    ['GET /v1/seats: public'],
    ['GET /a: nonsense'],
    ['GET /a//b: public'],
    ['\tGET /a: public'],
    ['GET /a: ${NOT_SET}'],
  ]) {
    write(refusing, routes)
    await t.rejects(refusing.reload(), routes.join())
    t.equal((await refusing.client.send('GET', '/docs/a')).status, 200)
  }
  write(refusing, ['GET /docs/*: public'])
})

t.test('changed sockets and files need a restart', async (t) => {
  const text = readFileSync(refusing.config.file, 'utf8')
  writeFileSync(refusing.config.file, text.replace('seatgate.db', 'other.db'))
  await t.rejects(refusing.reload(), { message: /store requires a restart/ })
  writeFileSync(refusing.config.file, text)
})

t.test('if the table becomes a folder or a broken link, the previous table stays', async (t) => {
  const table = join(refusing.folder, 'routes', 'main.yaml')
  writeFileSync(join(refusing.folder, 'routes', 'other.yaml'), routeTable(['GET /other: public']))
  await refusing.reload()
  rmSync(table)
  mkdirSync(table)
  await t.rejects(refusing.reload(), /main\.yaml:1:1: /)
  t.equal((await refusing.client.send('GET', '/docs/a')).status, 200)
  rmSync(table, { recursive: true })
  symlinkSync('gone', table)
  await t.rejects(refusing.reload(), /main\.yaml:1:1: /)
  t.equal((await refusing.client.send('GET', '/docs/a')).status, 200)
})

t.test('no request fails while tables and upstreams are replaced under load', async (t) => {
  const world = await startWorld(t)
  const other = await startUpstream(t)
  const text = readFileSync(world.config.file, 'utf8')
  let on = true
  t.teardown(() => (on = false))
  let failed = 0
  let sent = 0
  const load = Array.from({ length: 4 }, async () => {
    const client = new Client(world.port)
    while (on) {
      const answer = await client.send('GET', '/docs/a').catch(() => null)
      sent++
      if (answer?.status !== 200) failed++
    }
    client.close()
  })
  for (let round = 0; round < 6; round++) {
    const target = round % 2 === 0 ? other.url : world.upstream.url
    writeFileSync(world.config.file, text.replace(world.upstream.url, target))
    await world.reload()
    const wanted = sent + 2 * load.length
    await until(
      () => sent >= wanted,
      () => `${sent} requests are answered, not ${wanted}`,
    )
  }
  on = false
  await Promise.all(load)
  t.equal(failed, 0)
  t.ok(other.seen.length > 0 && world.upstream.seen.length > 0, 'both upstreams were used')
})

t.test('a token signed with a removed secret is refused after the reload', async (t) => {
  const world = await startWorld(t)
  const token = await world.token([])
  const headers = { authorization: `Bearer ${token}` }
  t.equal((await world.client.send('GET', '/v1/me', headers)).status, 200)
  const text = readFileSync(world.config.file, 'utf8')
  const secret = (of: string) => text.replace('"${ACME_SECRET}"', of)
  writeFileSync(world.config.file, secret('"a second secret, of thirty-two bytes or more", "${ACME_SECRET}"'))
  await world.reload()
  t.equal((await world.client.send('GET', '/v1/me', headers)).status, 200, 'the old secret still verifies')
  writeFileSync(world.config.file, secret('"a second secret, of thirty-two bytes or more"'))
  await world.reload()
  t.equal((await world.client.send('GET', '/v1/me', headers)).json.code, 'token_invalid')
})
