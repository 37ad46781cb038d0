/** `seatgate refused`: groups of refused requests, filters, formats and faults. */

import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { RefusedRequests } from '../../src/access/refused-requests.ts'
import { startWorld } from '../support/world.ts'
import { folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const REQUEST = {
  ...{ level: 'info', time: '2026-01-05T00:00:01.000Z', request_id: 'r1', method: 'GET', path: '/v1/a' },
  ...{ status: 403, code: 'permission_denied', route: 'GET /v1/a', permission: 'a:read', tenant: 'acme' },
  ...{ user: 'alice', space: 'main', detail: 'None of the Seats holds it.', msg: 'request' },
}
const line = (more: object = {}) => `${JSON.stringify({ ...REQUEST, ...more })}\n`
const LOG =
  line() +
  line({ time: '2026-01-05T00:00:03.000Z', request_id: 'r3', granted_in: ['dev'] }) +
  line({ time: '2026-01-05T00:00:02.000Z', request_id: 'r2', granted_in: ['other'] }) +
  line({ code: 'allow', status: 200 }) +
  line({ code: 'upstream_timeout', status: 504 }) +
  line({
    code: 'token_expired',
    status: 401,
    user: 'bob',
    space: undefined,
    tenant: 'globex',
    route: undefined,
  }) +
  line({ code: 'allow', asked_by: 'authzen' }) +
  '{"level":"info","msg":"listening"}\nnot json\n\n'

const cwd = folderWith(t, { 'a.log': LOG })
writeFileSync(join(cwd, 'a.log.gz'), gzipSync(line({ request_id: 'old', time: '2025-01-05T00:00:02.000Z' })))
const run = (...args: string[]) => seatgateHere(cwd, ['refused', ...args])
const groupsOf = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out)

t.test('groups, the most frequent first', async (t) => {
  const group = { method: 'GET', permission: 'a:read' }
  t.same(await groupsOf('a.log'), {
    requests: 6,
    refused: 4,
    groups: [
      {
        ...{ ...group, code: 'permission_denied', route: 'GET /v1/a', space: 'main', tenant: 'acme' },
        ...{
          user: 'alice',
          count: 3,
          last: '2026-01-05T00:00:03.000Z',
          request_id: 'r3',
          granted_in: ['dev'],
          host: null,
          path: '/v1/a',
          detail: 'None of the Seats holds it.',
        },
      },
      {
        ...{
          ...group,
          code: 'token_expired',
          route: null,
          space: null,
          tenant: 'globex',
          user: 'bob',
          count: 1,
        },
        ...{
          last: '2026-01-05T00:00:01.000Z',
          request_id: 'r1',
          granted_in: [],
          host: null,
          path: '/v1/a',
          detail: 'None of the Seats holds it.',
        },
      },
    ],
  })
})

t.test('requests without an entry are grouped by their host, and the last path is shown', async (t) => {
  const unknown = {
    code: 'route_not_found',
    status: 404,
    route: undefined,
    permission: undefined,
    tenant: undefined,
  }
  const lost = (host: string, path: string) =>
    line({ ...unknown, user: undefined, space: undefined, host, path })
  writeFileSync(
    join(cwd, 'b.log'),
    lost('a.example', '/v1/a') + lost('a.example', '/v1/b') + lost('b.example', '/'),
  )
  t.match((await groupsOf('b.log')).groups, [
    { host: 'a.example', path: '/v1/b', count: 2 },
    { host: 'b.example', path: '/', count: 1 },
  ])
  t.match((await run('b.log')).out, /^ {4}last \S+, r1, a\.example\/v1\/b$/m)
})

t.test('by time, tenant and user, and several logs', async (t) => {
  t.match(await groupsOf('--tenant', 'globex', 'a.log'), { requests: 1, groups: [{ user: 'bob' }] })
  t.match(await groupsOf('--user', 'alice', 'a.log'), { requests: 5, refused: 3 })
  t.match(await groupsOf('a.log', '--since', '2026-01-05T00:00:02Z'), { requests: 2, refused: 2 })
  t.match(await groupsOf('a.log', '--since', '10m'), { requests: 0, refused: 0, groups: [] })
  t.match(await groupsOf('a.log.gz', 'a.log'), { groups: [{ count: 4, request_id: 'r3' }] })
})

t.test('as text, with what would have allowed it', async (t) => {
  const { out, code } = await run('a.log')
  t.equal(code, 0)
  t.match(out, '3 × permission_denied  GET /v1/a  alice of acme in main\n')
  t.match(out, 'allowed by a Seat with a:read in main; its Seats hold it in dev\n')
  t.match(out, 'last 2026-01-05T00:00:03.000Z, r3, /v1/a\n')
  t.match(out, 'allowed by a new token, or a refresh\n')
  t.match(out, /4 of 6 requests were refused\n$/)
  t.ok(out.split('\n').every((each) => each.length <= 80))
})

t.test('as text, why: with the detail of the last request', async (t) => {
  const other = {
    code: 'token_invalid',
    tenant: undefined,
    user: undefined,
    route: undefined,
    space: undefined,
  }
  const unavailable = { ...other, code: 'unavailable', detail: 'The provider is not available.' }
  writeFileSync(
    join(cwd, 'why.log'),
    line({ ...other, detail: 'The token is for another.' }) + line(unavailable),
  )
  const { out } = await run('why.log')
  t.match(
    out,
    'token_invalid  GET  an unknown caller\n    The token is for another.\n    allowed by a valid token',
  )
  t.match(out, 'unavailable  GET  an unknown caller\n    The provider is not available.\n    last ')
})

t.test('a file that is no log of a gateway', async (t) => {
  writeFileSync(join(cwd, 'some.yaml'), 'listen: 127.0.0.1:8080\n')
  const { code, out, err } = await run('some.yaml')
  t.match({ code, out }, { code: 0, out: '0 of 0 requests were refused\n' })
  t.match(err, 'note: no line is a request of an access log: name logs that the gateway wrote')
  writeFileSync(join(cwd, 'empty.log'), '')
  for (const args of [['empty.log'], ['a.log', '--tenant', 'other']]) t.equal((await run(...args)).err, '')
})

t.test('wrong input', async (t) => {
  t.match(await run('none.log'), { code: 1, err: /none\.log/ })
  t.match(await run('-', '-'), { code: 2, err: /standard input can be read once/ })
  t.match(await run('a.log', '--since', 'yesterday'), { code: 2, err: /--since/ })
  t.match(await run('.'), { code: 1, err: /folder/ })
})

t.test('text of clients does not control the terminal', async (t) => {
  writeFileSync(join(cwd, 'b.log'), line({ user: 'eve\u001b[31m', space: 'x\u202ey' }))
  const { out } = await run('b.log')
  t.notMatch(out, /[\u001b\u202e]/)
})

t.test('groups beyond the bound are counted', async (t) => {
  const requests = new RefusedRequests({ since: null, tenant: null, user: null })
  for (let at = 0; at < 10_002; at++) requests.add(line({ space: `s${at}` }))
  const { refused, groups, in_further_groups: further } = requests.result()
  t.same([refused, groups.length, further], [10_002, 10_000, 2])
})

t.test('the log of a gateway', async (t) => {
  const world = await startWorld(t)
  const token = await world.token(['main:Gone'], { sub: 'bob' })
  await world.client.send('GET', '/v1/trainings', { authorization: `Bearer ${token}`, space: 'main' })
  await world.client.send('GET', '/v1/trainings')
  await world.client.send('GET', '/docs/a')
  writeFileSync(join(cwd, 'own.log'), world.logText())
  const { requests, groups } = await groupsOf('own.log')
  t.equal(requests, 3)
  t.match(
    groups.find(({ code }: { code: string }) => code === 'permission_denied'),
    {
      ...{
        tenant: 'acme',
        user: 'bob',
        space: 'main',
        route: 'GET /v1/trainings',
        permission: 'trainings:list',
      },
    },
  )
  t.match(
    groups.find(({ code }: { code: string }) => code === 'credentials_missing'),
    { tenant: null, user: null },
  )
})

t.test('explain decides a request of the log again', async (t) => {
  const world = await startWorld(t)
  const id = await world.seat('Viewer', ['main'], ['trainings:read'])
  const token = await world.token(['main:Viewer'], { sub: 'bob' })
  await world.client.send('GET', '/v1/trainings', { authorization: `Bearer ${token}`, space: 'main' })
  const log = join(world.folder, 'gateway.log')
  writeFileSync(log, world.logText())
  const [group] = (await groupsOf(log, '--user', 'bob')).groups
  const explain = (...args: string[]) =>
    seatgateHere(world.folder, ['explain', '--from', 'gateway.log', ...args], {
      GLOBEX_SECRET: 'a secret of globex, of 32 bytes and more',
    })
  const again = await explain(group.request_id)
  t.match(again, { code: 0, out: /^then permission_denied, now permission_denied\n/ })
  t.match(again.out, /"Viewer" lacks the permission/)
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['trainings:list'] })
  t.match((await explain(group.request_id)).out, /^then permission_denied, now allow\n/)
  t.match(JSON.parse((await explain(group.request_id, '--json')).out), {
    logged_code: 'permission_denied',
    code: 'allow',
  })
  t.match(await explain(group.request_id, '--expect', 'permission_denied'), { code: 3 })
  const nonsense = { code: 2, out: '', err: /--expect "nonsense" / }
  t.match(await explain(group.request_id, '--expect', 'nonsense'), nonsense, 'before it prints')
  t.match(await explain('none', '--expect', 'nonsense'), nonsense, 'before it looks into the log')
  t.match(await explain('none'), { code: 1, err: /gateway\.log has no request none/ })
  t.match(await explain(group.request_id, '/path'), { code: 2, err: /--from takes the id/ })
  t.match(await explain(), { code: 2, err: /METHOD is missing/ })
})

t.test('explain names the kind of credential that the line has', async (t) => {
  const world = await startWorld(t)
  const key = { 'x-api-key': world.keys['acme'] ?? '', space: 'main' }
  await world.client.send('GET', '/v1/trainings', key)
  writeFileSync(join(world.folder, 'gateway.log'), world.logText())
  const [{ user, request_id: id }] = (await groupsOf(join(world.folder, 'gateway.log'))).groups
  const secret = { GLOBEX_SECRET: 'a secret of globex, of 32 bytes and more' }
  const { out } = await seatgateHere(world.folder, ['explain', '--from', 'gateway.log', id], secret)
  t.match(out, `${user} of acme by api-key\n`)
})
