/** `rate_limits`, and the lists by which tables and routes name them: values, and each fault with its place. */

import t, { type Test } from 'tap'
import { rateLimitText } from '../../src/model/rate-limit.ts'
import { BASE, Folder, faultsAt } from './support.ts'

const LIMITS = 'rate_limits:\n  writes: { limit: 1000/h, burst: 50 }\n  slow: { limit: 5/m, per: address }\n'

function folder(t: Test, table: string, limits = LIMITS): Folder {
  return new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: [r.yaml]\n${limits}`,
    'r.yaml': `upstream: main\n${table}`,
  })
}

async function named(t: Test, table: string, limits = LIMITS) {
  const { config, faults } = await folder(t, table, limits).load()
  if (config === null) throw new Error(faults.map((each) => each.message).join('\n'))
  const { hash } = config
  return { hash, limits: config.routes.map(({ rateLimits }) => rateLimits?.map(rateLimitText)) }
}

const WRITES = 'writes 1000/h burst 50 per caller'
const SLOW = 'slow 5/m burst 5 per address'

t.test("the list of a route stands in place of its table's", async (t) => {
  const table = `rate_limit: [writes]
routes:
  GET /a: public
  GET /b: { permission: public, rate_limit: [slow] }
  GET /c: { permission: public, rate_limit: [writes, slow] }
  GET /d: { permission: public, rate_limit: [] }
`
  t.same((await named(t, table)).limits, [[WRITES], [SLOW], [WRITES, SLOW], undefined])
  t.same((await named(t, 'routes: { GET /a: public }\n')).limits, [undefined])
})

t.test('the hash of the tables depends on the limits that they name', async (t) => {
  const limited = 'rate_limit: [writes]\nroutes: { GET /a: public }\n'
  const hash = async (table: string, limits = LIMITS) => (await named(t, table, limits)).hash
  const first = await hash(limited)
  t.equal(await hash(limited.replace('[writes]', '["writes"]')), first)
  t.not(await hash(limited, LIMITS.replace('burst: 50', 'burst: 51')), first)
  t.not(await hash('routes: { GET /a: public }\n'), first)
  t.equal(
    await hash('routes: { GET /a: public }\n'),
    await hash('routes: { GET /a: public }\n', LIMITS.replace('50', '51')),
  )
})

t.test('faults of tables', async (t) => {
  await folder(t, 'rate_limit: [wirtes]\nroutes: { GET /a: public }\n').faultsAt(t, 'r.yaml:2:14')
  const twice = 'routes:\n  GET /a: { permission: public, rate_limit: [slow, slow] }\n'
  await folder(t, twice).faultsAt(t, 'r.yaml:3:52')
})

t.test('faults of limits', async (t) => {
  const fault = (line: string, place: string) => faultsAt(t, `${BASE}rate_limits: { ${line} }\n`, place)
  for (const limit of ['10', '10/d', '0/s', '2000000000/s', '99999999999999999999/s'])
    await fault(`w: { limit: ${limit} }`, '3:28')
  await fault('w: { limit: 1/s, burst: 0 }', '3:40')
  await fault('w: { limit: 1/s, per: user }', '3:38')
  await fault('w: {}', '3:16')
  await fault('"a;q=1": { limit: 1/s }', '3:16')
  await fault('W: { limit: 1/s }', '3:16')
  const many = Array.from({ length: 65 }, (_, i) => `l${i}: { limit: 1/s }`).join(', ')
  await fault(many, '3:14')
})
