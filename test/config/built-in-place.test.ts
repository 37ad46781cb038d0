/** `api:` of the main file: prefixes and hosts of the gateway's own endpoints. */

import t from 'tap'
import { BASE, configOf, faultsAt } from './support.ts'

t.test('prefixes and hosts', async (t) => {
  t.same((await configOf(t, BASE)).api, {
    hosts: null,
    prefix: '',
    authPrefix: '',
    console: false,
    scim: false,
  })
  const { api } = await configOf(
    t,
    `${BASE}api: { prefix: /_seatgate, auth_prefix: /_auth/a, hosts: [GW.example] }\n`,
  )
  t.same(api, {
    hosts: ['gw.example'],
    prefix: '/_seatgate',
    authPrefix: '/_auth/a',
    console: false,
    scim: false,
  })
  t.equal((await configOf(t, `${BASE}console: true\n`)).api.console, true)
  const written = await configOf(t, `${BASE}api: { prefix: "", hosts: [] }\n`)
  t.same(
    written.api,
    { hosts: null, prefix: '', authPrefix: '', console: false, scim: false },
    'the defaults, written out',
  )
})

t.test('faults', async (t) => {
  for (const prefix of ['_seatgate', '/_seatgate/', '/{a}', '/a/..', '/v1', '/v1/x', '/auth', '/.well-known'])
    await faultsAt(t, `${BASE}api: { prefix: "${prefix}" }\n`, '3:16')
  await faultsAt(t, `${BASE}api: { auth_prefix: /auth/oidc }\n`, '3:21')
  await faultsAt(t, `${BASE}api_hosts: [a.example]\napi: { hosts: [a.example] }\n`, '4:8')
  await faultsAt(t, `${BASE}api_hosts: []\n`, '3:12')
  await faultsAt(t, `${BASE}api: /_seatgate\n`, '3:6')
})

t.test('the hash of the tables has them', async (t) => {
  const hash = async (line: string) => (await configOf(t, BASE + line)).hash
  const hashes = await Promise.all(
    ['', 'api: { prefix: /a }\n', 'api: { auth_prefix: /a }\n', 'console: true\n'].map(hash),
  )
  t.equal(new Set(hashes).size, 4)
  t.equal(await hash('console: false\n'), hashes[0])
  t.equal(await hash('api: { hosts: [a.example] }\n'), await hash('api_hosts: [a.example]\n'))
})
