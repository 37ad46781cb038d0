/** `seatgate routes --url`, `seatgate explain --url` and `seatgate decisions`. */

import t from 'tap'
import { OutputFailed } from '../../../src/cli/command.ts'
import { startTcpProxy } from '../../support/servers/proxy.ts'
import { until } from '../../support/until.ts'
import { startWorld } from '../../support/world.ts'
import { afar, signedIn } from './from-afar.ts'

const world = await startWorld(t)
const key = world.keys['acme'] ?? ''
const viewerId = await world.seat('Viewer', ['s1'], ['trainings:list'])
await signedIn(world, { alice: 'alice@example.com' }, [viewerId])
const viewer = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
const url = `http://127.0.0.1:${world.port}`
const { run } = afar(t, world, key)

t.test('routes of a gateway, with their uses', async (t) => {
  await world.client.send('GET', '/v1/trainings', viewer)
  const { code, out } = await run(['routes', '--url', url])
  t.equal(code, 0)
  t.match(out, /^GET +\/v1\/trainings +trainings:list +main +\S+main\.yaml:3 +used 1 times, last \d{4}-/m)
  t.match(out, /^GET +\/docs\/\* +public +main +\S+ +not used$/m)
  const rows = JSON.parse(
    (await run(['routes', '--url', url, '--permission', 'trainings:list', '--json'])).out,
  )
  t.match(rows, [{ method: 'GET', path: '/v1/trainings', requests: 1 }])
  t.match(await run(['routes', '--url', url, '--space', 's1'], { SEATGATE_API_KEY: undefined }), {
    code: 2,
    err: /--api-key is missing/,
  })
})

t.test('explain of a gateway', async (t) => {
  const explain = (...args: string[]) =>
    run(['explain', 'GET', '/v1/trainings', '--space', 's1', '--url', url, ...args])
  const allowed = await explain('--seat', 'Viewer')
  t.match(allowed, { code: 0, out: /^allow\n/ })
  t.match(allowed.out, /route {7}GET \/v1\/trainings → main/)
  t.match(allowed.out, /"Viewer" grants it/)
  t.match((await explain('--user', 'alice')).out, /caller {6}alice of acme by bearer/)
  t.match((await explain('--user', 'Alice@example.com')).out, /caller {6}alice of acme by bearer$/m)
  t.match(await explain('--user', 'bob', '--expect', 'allow'), { code: 3, out: /^no_seat_in_space\n/ })
  const notKnown = (await explain('--user', 'bob@example.com')).out
  t.match(notKnown, /No sign-in of this user is known\s+here/)
  t.match(notKnown, /caller {6}bob@example\.com of acme by bearer, not known$/m)
  t.match((await explain('--api-key-id', '01KAJ0Z1V5Q8T2C0W7M3E9R4XD')).out, /^api_key_invalid\n/)
  t.equal(JSON.parse((await explain('--seat', 'Viewer', '--api-key', key, '--json')).out).code, 'allow')
  for (const [wrong, message] of [
    [['--token', 'x'], '--token does not go with --url'],
    [['--seat', 'a', '--user', 'b'], 'exclude each other'],
  ] as const)
    t.match(await explain(...wrong), { code: 2, err: new RegExp(message) })
  t.match(await run(['explain', 'GET', '/', '--user', 'alice']), { code: 2, err: /--user goes with --url/ })
})

t.test('decisions', async (t) => {
  await world.client.send('GET', '/v1/trainings/7', viewer)
  const { out } = await run(['decisions', '--limit', '1'])
  t.match(
    out,
    /^at +code +request +user +space\n\S+Z +permission_denied +GET \/v1\/trainings\/7 +alice +s1\n$/,
  )
  const all = JSON.parse((await run(['decisions', '--json', '--limit', '1000'])).out)
  t.equal(all.has_more, false)
  t.ok(all.data.length > 3)
  t.match(await run(['decisions', '--code', 'rate_limited']), { code: 0, out: 'no decisions\n' })
  t.match(await run(['decisions', '--code', 'perhaps']), { code: 2 })
  t.match(await run(['decisions', '--limit', '1001']), { code: 2 })
})

t.test('decisions as they happen, until the reader is gone', async (t) => {
  const lines: string[] = []
  let before = 0
  const print = async (text: string) => {
    lines.push(...text.split('\n'))
    // What comes next is the command's own read of the list.
    if (before === 0) before = lines.length
    if (lines.some((line) => line.includes('"path":"/v1/files/second"')))
      throw new OutputFailed(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  }
  const following = run(['decisions', '--follow', '--json', '--limit', '1'], {}, { print })
  await until(() => before > 0, 'the decision before')
  t.equal(before, 1)
  await world.client.send('GET', '/v1/files/first', viewer)
  await world.client.send('GET', '/v1/files/second', viewer)
  t.match(await following, { code: 0 })
  const ids = lines.map((line) => JSON.parse(line).id)
  t.same(ids, [...new Set(ids)].sort())
  t.match(
    lines.map((line) => JSON.parse(line).path).filter((path) => path.startsWith('/v1/files')),
    ['/v1/files/first', '/v1/files/second'],
  )
})

t.test(
  'a stream that breaks is opened again: what is missing is printed, and nothing from before',
  async (t) => {
    const proxy = await startTcpProxy(t, world)
    const paths: string[] = []
    const print = async (text: string) => {
      paths.push(...text.split('\n').map((line) => JSON.parse(line).path))
      if (paths.includes('/v1/files/after'))
        throw new OutputFailed(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    }
    const send = (name: string) => world.client.send('GET', `/v1/files/${name}`, viewer)
    for (const name of ['old', 'before']) await send(name)
    const args = ['decisions', '--follow', '--json', '--limit', '1', '--code', 'permission_denied']
    const following = run([...args, '--url', `http://127.0.0.1:${proxy.port}`], {}, { print })
    await until(() => paths.length > 0, 'the decision before')
    await send('live')
    await until(() => paths.length > 1, 'a decision of the stream')
    await proxy.cut()
    await send('missed')
    await proxy.heal()
    await until(() => paths.length > 2, 'the decision in between')
    await send('after')
    t.match(await following, { code: 0, err: '' })
    t.same(
      paths,
      ['before', 'live', 'missed', 'after'].map((name) => `/v1/files/${name}`),
    )
  },
)

t.test('a right that is lost ends it', async (t) => {
  const id = await world.seat('Watcher', ['s1'], ['decisions:list'])
  const { key: own } = (await world.admin('POST', '/v1/api-keys', { name: 'w', seats: ['Watcher'] })).json
  let isReading = false
  const print = async () => {
    isReading = true
  }
  const args = ['decisions', '--follow', '--space', 's1', '--code', 'allow']
  const following = run(args, { SEATGATE_API_KEY: own }, { print })
  await until(() => isReading, 'decisions')
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: [] })
  t.match(await following, { code: 1, err: /permission_denied|no_seat_in_space/ })
})
