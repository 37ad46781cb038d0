/** The last administrator of a tenant leaves by SCIM: it is not refused, but logged and counted. */

import t from 'tap'
import { until } from '../support/until.ts'
import { seatgateHere } from '../cli/in-process.ts'
import { env } from '../support/world.ts'
import { GLOBEX_TOKEN, NEW_TOKEN, startScim, TOKEN } from './support.ts'

t.test('logged once a departure', async (t) => {
  const scim = await startScim(t, { acme: ['seats_from: scim'] })
  const { world } = scim
  await world.seat('Owner', ['admin'], ['*'])
  const group = await scim.group('Owner', [await scim.user('ann')])
  const [key] = (await world.admin('GET', '/v1/api-keys')).json.data
  await world.admin('DELETE', `/v1/api-keys/${key.id}`)
  const lines = () => world.log().filter(({ event }) => event === 'nobody_administers')
  const lost = async () => {
    const text = await (await fetch(`${world.ops}/metrics`)).text()
    return Number(/^seatgate_administrators_lost_total (\d+)$/m.exec(text)?.[1])
  }
  await scim.user('ben')
  const leave = async (times: number) => {
    const { status } = await scim.patch(`/Groups/${group}`, { op: 'Replace', path: 'members', value: [] })
    t.equal(status, 204, 'not refused')
    await until(() => lines().length === times, 'the line of the log')
    t.match(lines().at(-1), { tenant: 'acme' })
    t.equal(await lost(), times)
  }
  const lint = async () => {
    const secrets = { TOKEN, NEW_TOKEN, GLOBEX_TOKEN }
    return (await seatgateHere(world.folder, ['lint', '--tenant', 'acme'], { ...env, ...secrets })).out
  }
  t.notMatch(await lint(), 'nobody_administers')
  await leave(1)
  t.match(await lint(), /^error nobody_administers/m)
  const cid = await scim.user('cid')
  t.equal(lines().length, 1, 'the next write says nothing new')
  await scim.patch(`/Groups/${group}`, { op: 'Add', path: 'members', value: [{ value: cid }] })
  await until(() => world.log().some(({ event }) => event === 'administered'), 'the end of that state')
  await leave(2)
})
