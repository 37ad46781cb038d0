/** `seatgate verify` with token secrets and API keys of several kinds. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { seatgate, SECRET } from '../command-line.ts'
import { SPACE, startGate } from './gate.ts'

const gate = await startGate(t)
const { admin, names, run, folder } = gate
await admin('POST', '/v1/seats', { name: 'seatgate-verify', spaces: [SPACE], permissions: ['canary:read'] })
const before = await names()

t.test('JUnit, with tokens and a block', async (t) => {
  writeFileSync(join(folder, 'secret'), `${SECRET}\n`)
  const { code, out, err } = await run(
    '--duration',
    '15s',
    '--format',
    'junit',
    '--token-secret-file',
    'secret',
  )
  t.equal(code, 0, err)
  t.match(
    out,
    /^<\?xml [^]*<testsuite name="seatgate verify" tests="\d+" failures="0" errors="0" skipped="\d+"/,
  )
  t.same((await admin('GET', '/v1/blocks')).json.data, [])
  t.same(await names(), before)
})

t.test('a secret that the tenant does not verify with', async (t) => {
  writeFileSync(join(folder, 'wrong'), 'w'.repeat(64))
  const { code, out, err } = await run('--duration', '10m', '--token-secret-file', 'wrong')
  t.match({ code, out }, { code: 1, out: '' })
  t.match(err, /tenant acme does not accept tokens signed with the secret in --token-secret-file/)
  t.notMatch(err, /wwww/)
  t.same(await names(), before)
})

t.test('a key without rights', async (t) => {
  const made = await admin('POST', '/v1/api-keys', { name: 'poor', seats: ['seatgate-verify'] })
  const env = { SEATGATE_URL: gate.gateway.origin, SEATGATE_API_KEY: String(made.json.key) }
  const ran = await seatgate(folder, ['verify', '--space', SPACE], env)
  t.match(ran, { code: 1, out: '', err: /403 permission_denied/ })
  await admin('DELETE', `/v1/api-keys/${made.json.id}`)
})

t.test('a key of the space alone manages there', async (t) => {
  const permissions = ['seats', 'api-keys'].flatMap((each) =>
    ['list', 'create', 'delete'].map((verb) => `${each}:${verb}`),
  )
  const all = [...permissions, 'seats:update', 'canary:read']
  await admin('POST', '/v1/seats', { name: 'Local', spaces: [SPACE], permissions: all })
  const made = await admin('POST', '/v1/api-keys', { name: 'local', seats: ['Local'] })
  const env = { SEATGATE_URL: gate.gateway.origin, SEATGATE_API_KEY: String(made.json.key) }
  const { code, err } = await seatgate(folder, ['verify', '--space', SPACE, '--duration', '15s'], env)
  t.equal(code, 0, err)
  const now = await names()
  t.same(
    now.filter((name) => !['Local', 'local'].includes(name)),
    before,
  )
})
