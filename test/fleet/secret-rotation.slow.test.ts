/**
 * A rotation of a secret at three instances on one PostgreSQL: `seatgate secrets status` and `secrets wait`, on
 * the store and through a gateway.
 */

import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { TENANT } from './fleet.ts'
import { allAnswer, areAnswered, get, LONG, replace, sendEach, startRolling, tableOf } from './rolling.ts'

const { gateways, run, remote } = await startRolling(t)
const [a, b, c] = gateways

t.test('a secret is rotated without a restart', async (t) => {
  const fingerprint = (secret: string) =>
    createHmac('sha256', secret).update('seatgate fingerprint').digest('hex').slice(0, 12)
  const tokenOf = async (secret: string) => {
    const token = {
      secrets: [Buffer.from(secret)],
      algorithm: 'HS256',
      lifetime: 3_600_000,
      leeway: 0,
    } as const
    const tenant = { id: TENANT, adminSpace: 'admin', token, oidc: null }
    return mintToken(tenant, { sub: 'alice', hashPerm: [] }, Date.now())
  }
  const [old = '', next = ''] = [0, 1].map(() => randomBytes(32).toString('hex'))
  const rotate = (...secrets: readonly string[]) => {
    for (const gateway of gateways)
      for (const [at, secret] of secrets.entries()) replace(gateway, `secret-${at}`, `${secret}\n`)
  }
  const accept = (...names: readonly string[]) => {
    for (const gateway of gateways) {
      const list = names.map((name) => `"\${file:${name}}"`).join(', ')
      const text = readFileSync(gateway.file, 'utf8').replace(
        /(acme: \{ token: \{ secrets: \[)[^\]]*/,
        `$1${list}`,
      )
      replace(gateway, 'gateway.config.yaml', text)
      replace(gateway, 'routes/main.yaml', tableOf('authenticated'))
    }
  }
  const me = async (secret: string) => get('/gate', `Authorization: Bearer ${await tokenOf(secret)}\r\n`)
  const wait = (...args: readonly string[]) => run(['secrets', 'wait', TENANT, '--within', LONG, ...args])

  rotate(old)
  accept('secret-0')
  const [newest, oldest] = [fingerprint(next), fingerprint(old)]
  t.match(await wait('--signs', oldest), { code: 0, err: '' })
  await allAnswer(t, 200, await me(old), gateways)

  rotate(next, old)
  accept('secret-0', 'secret-1')
  const both = await wait('--signs', newest, '--json', ...remote(c))
  t.equal(both.code, 0, both.err)
  const [{ tenant, instances }] = JSON.parse(both.out)
  t.equal(tenant, TENANT)
  t.equal(instances.length, 3)
  for (const each of instances) t.match(each, { signs: newest, accepts: [newest, oldest] })
  for (const secret of [old, next]) await allAnswer(t, 200, await me(secret), gateways)
  const early = await run(['secrets', 'wait', TENANT, '--without', oldest, '--within', '1s'])
  t.equal(early.code, 3)
  t.match(early.err, `did not stop accepting ${oldest}:`)
  t.match(early.err, `signs with ${newest} and accepts ${oldest}`)

  const status = await run(['secrets', 'status', '--json'])
  t.equal(status.code, 0, status.err)
  t.same(
    JSON.parse(status.out).map((each: { tenant: string }) => each.tenant),
    ['acme', 'globex'],
  )
  t.notMatch(status.out, new RegExp(`${old}|${next}`))
  t.match(
    (await run(['secrets', 'status'])).out,
    new RegExp(`^acme +\\S+ \\d+ +${newest} +${newest} ${oldest}$`, 'm'),
  )
  const own = await run(['secrets', 'status', '--json', ...remote(a)])
  t.same(
    JSON.parse(own.out).map((each: { tenant: string }) => each.tenant),
    ['acme'],
    'a gateway tells the secrets of the tenant of the key',
  )

  await b.freeze()
  accept('secret-0')
  const clients = sendEach(b, await me(old), 4)
  for (const from of [[], remote(a)]) {
    const withdrawn = await wait('--signs', newest, '--without', oldest, ...from)
    t.equal(withdrawn.code, 0, withdrawn.err)
  }
  await allAnswer(t, 401, await me(old), [a, c])
  b.thaw()
  await areAnswered(t, 401, clients, 'of the instance that was frozen')
  await allAnswer(t, 200, await me(next), gateways)
})
