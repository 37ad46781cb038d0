/** The warnings of `seatgate check`, how they are accepted, and its formats. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKeyPairSync } from 'node:crypto'
import { newKey } from '../identity/support.ts'
import t, { type Test } from 'tap'
import { ONLINE_FAULTS, WARNINGS } from '../../src/config/faults.ts'
import { textOf } from '../docs/pages.ts'
import { CONFIG, folderWith, ROUTES, SECRET } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const files = { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES }

/** The warnings as `line code`. */
async function warningsOf(t: Test, config: string, table = ROUTES): Promise<string[]> {
  const cwd = folderWith(t, { 'gateway.config.yaml': config, 'routes/a.yaml': table })
  const { code, out } = await seatgateHere(cwd, ['check', '--format', 'json'])
  t.equal(code, 0, out)
  const { warnings } = JSON.parse(out)
  t.notMatch(out, SECRET)
  return warnings.map(({ line, code: each }: { line: number; code: string }) => `${line} ${each}`)
}

t.test('a configuration without warnings', async (t) => {
  t.same(await warningsOf(t, CONFIG), [])
})

t.test('secrets in the file', async (t) => {
  t.same(await warningsOf(t, CONFIG.replace('"${ACME_SECRET}"', SECRET.replace(',', ''))), [
    '5 secret_literal',
  ])
  const store = CONFIG.replace('sqlite:./seatgate.db', 'postgres://me:hidden@127.0.0.1:9/a')
  t.same(await warningsOf(t, store), ['3 secret_literal'])
  t.same(await warningsOf(t, store.replace(':hidden@', ':${ACME_SECRET}@')), [])
  t.same(await warningsOf(t, store.replace(':hidden@', '@')), [], 'without a password')
  t.same(await warningsOf(t, `${CONFIG}redis: redis://:hidden@127.0.0.1:9\n`), ['9 secret_literal'])
})

t.test('the listener for operators', async (t) => {
  for (const [address, found] of [
    ['0.0.0.0:9090', ['2 ops_open']],
    ['"[::]:9090"', ['2 ops_open']],
    ['10.0.0.1:9090', []],
  ] as const)
    t.same(await warningsOf(t, CONFIG.replace('ops: 127.0.0.1:0', `ops: ${address}`)), found, address)
})

t.test('entries', async (t) => {
  const table = `${ROUTES}  GET /:id: p:q\n  GET /a/{x}: p:q\n  GET /{y}/b: r:s\n  POST /*: public\n`
  const found = await warningsOf(t, CONFIG, table)
  t.same(
    found.filter((each) => !each.endsWith('wider_fallback')),
    ['6 foreign_parameter', '7 crossing_entries', '9 public_everything'],
  )
  t.ok(found.includes('3 wider_fallback'), 'the last entry makes POST of each path public')
})

t.test('a comment accepts a warning at the line below it', async (t) => {
  const open = CONFIG.replace('ops: 127.0.0.1:0', 'ops: 0.0.0.0:9090')
  const accepting = (comment: string) => warningsOf(t, open.replace('ops:', `${comment}\nops:`))
  t.same(await accepting('# seatgate: accept ops_open'), [])
  t.same(await accepting('# seatgate: accept ops_open\n# the network is closed'), [])
  t.same(await accepting('#seatgate: accept secret_literal, ops_open'), [])
  t.same(await accepting('# seatgate: accept secret_literal'), ['3 ops_open'])
  t.same(await accepting('# seatgate: accept ops_open\n'), ['4 ops_open'], 'not behind an empty line')
  const cwd = folderWith(t, { ...files, 'gateway.config.yaml': `# seatgate: accept ops_opened\n${CONFIG}` })
  const { code, err } = await seatgateHere(cwd, ['check'])
  t.equal(code, 1)
  t.match(
    err,
    /^gateway\.config\.yaml:1:20: .*"ops_open"[^\n]*\ngateway\.config\.yaml: 1 fault\n$/,
    'with what is meant',
  )
})

t.test('formats', async (t) => {
  const cwd = folderWith(t, {
    ...files,
    'gateway.config.yaml': CONFIG.replace('ops: 127.0.0.1:0', 'ops: 0.0.0.0:9'),
  })
  const run = (...args: string[]) => seatgateHere(cwd, ['check', ...args])
  const text = await run()
  t.equal(text.out, 'gateway.config.yaml: no faults, 1 warning (3 routes, 1 upstream)\n')
  t.match(text.err, /^gateway\.config\.yaml:2:6: warning: ops: .* \[ops_open\]\n$/)
  t.equal((await run('--strict')).code, 3)
  const github = await run('--format', 'github')
  t.match(github.out, /^::warning file=gateway\.config\.yaml,line=2,col=6::ops: /)
  const sarif = JSON.parse((await run('--format', 'sarif')).out)
  t.match(sarif, { version: '2.1.0', runs: [{ results: [{ ruleId: 'ops_open', level: 'warning' }] }] })
  const rules = new Set(sarif.runs[0].tool.driver.rules.map(({ id }: { id: string }) => id))
  for (const code of Object.keys({ ...WARNINGS, ...ONLINE_FAULTS })) t.ok(rules.has(code), code)
  writeFileSync(join(cwd, 'routes/a.yaml'), 'upstream: nowhere\nroutes: { GET /a: p }\n')
  const faulty = await run('--format', 'json')
  t.equal(faulty.code, 1)
  t.equal(JSON.parse(faulty.out).faults.length, 2)
  t.match(await run('--format', 'github'), { code: 1, out: /^::error file=routes\/a\.yaml,line=1,col=11::/ })
  t.match(JSON.parse((await run('--format', 'sarif')).out), {
    runs: [{ results: [{ ruleId: 'configuration_fault', level: 'error' }, {}] }],
  })
  t.equal((await run('--format', 'xml')).code, 2)
})

t.test('without the environment', async (t) => {
  const cwd = folderWith(t, files)
  const env = { ACME_SECRET: '' }
  t.match(await seatgateHere(cwd, ['check'], env), { code: 1, err: /^gateway\.config\.yaml:5:30: / })
  t.match(await seatgateHere(cwd, ['check', '--no-env'], env), { code: 0, err: '' })
})

t.test('addresses to register at the identity provider of a tenant', async (t) => {
  const redirectUri = 'https://gw.example/auth/oidc/callback'
  const oidc = `{ issuer: https://a.example, client_id: c, redirect_uri: ${redirectUri} }`
  const config = CONFIG.replace(/^  acme: \{(.*)\}$/m, `  acme: {$1, oidc: ${oidc} }`)
  t.not(config, CONFIG)
  const cwd = folderWith(t, { ...files, 'gateway.config.yaml': config })
  const logout = 'https://gw.example/auth/oidc/backchannel-logout/acme'
  const { out } = await seatgateHere(cwd, ['check'])
  t.match(
    out,
    `tenant acme: to register at its provider: redirect URI ${redirectUri}, back-channel logout URI ${logout}\n`,
  )
  const { providers } = JSON.parse((await seatgateHere(cwd, ['check', '--format', 'json'])).out)
  t.same(providers, [{ tenant: 'acme', redirect_uri: redirectUri, backchannel_logout_uri: logout }])
})

t.test(
  'public keys to register at the identity provider of a tenant, and nothing of the private ones',
  async (t) => {
    const oidc =
      '{ issuer: https://a.example, client_id: c, redirect_uri: https://gw.example/auth/oidc/callback, client_key: client.pem, decryption_keys: [one.pem, two.pem] }'
    const config = CONFIG.replace(/^  acme: \{(.*)\}$/m, `  acme: {$1, oidc: ${oidc} }`)
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const pems = {
      'client.pem': newKey(),
      'one.pem': newKey(),
      'two.pem': rsa.export({ type: 'pkcs8', format: 'pem' }),
    }
    const texts = Object.entries(pems).map(([name, pem]) => [name, pem.toString()])
    const cwd = folderWith(t, { ...files, 'gateway.config.yaml': config, ...Object.fromEntries(texts) })
    const { out } = await seatgateHere(cwd, ['check'])
    const [, printed = ''] = /^tenant acme: to register at its provider: public keys (.*)$/m.exec(out) ?? []
    const json = await seatgateHere(cwd, ['check', '--format', 'json'])
    const { jwks } = JSON.parse(json.out).providers[0]
    t.strictSame(JSON.parse(printed), jwks)
    t.match(jwks.keys, [
      { kty: 'EC', crv: 'P-256', use: 'sig', kid: /^[\w-]{43}$/ },
      { kty: 'EC', use: 'enc', alg: 'ECDH-ES' },
      { kty: 'RSA', use: 'enc', alg: 'RSA-OAEP-256', e: 'AQAB' },
    ])
    const names = new Set(jwks.keys.flatMap((each: object) => Object.keys(each)))
    t.same([...names].sort(), ['alg', 'crv', 'e', 'kid', 'kty', 'n', 'use', 'x', 'y'])
  },
)

t.test('the manual lists the warnings', async (t) => {
  const page = textOf('docs/access.md')
  for (const [code, meaning] of Object.entries({ ...WARNINGS, ...ONLINE_FAULTS }))
    t.match(page, `| \`${code}\` | ${meaning} |`)
})
