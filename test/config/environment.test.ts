import t from 'tap'
import { escapeVariables, literalKey, substitute } from '../../src/config/environment.ts'
import { BASE, configOf, faultsAt, refuses, SECRET, tableFaultsAt } from './support.ts'

const env = { A: 'alpha', EMPTY: '', BRACES: '${A}', DOLLAR: '$', _x1: 'under' }

t.test('variables are replaced once; the result is not expanded again', async (t) => {
  const cases = {
    '': '',
    plain: 'plain',
    '${A}': 'alpha',
    'x${A}y${_x1}z': 'xalphayunderz',
    '${A}${A}': 'alphaalpha',
    '${EMPTY}': '',
    '${NONE:-fallback}': 'fallback',
    '${EMPTY:-fallback}': 'fallback',
    '${A:-fallback}': 'alpha',
    '${NONE:-}': '',
    '${NONE:-a:-b}': 'a:-b',
    '${NONE:-http://127.0.0.1:9001}': 'http://127.0.0.1:9001',
    '${BRACES}': '${A}',
    '${DOLLAR}{A}': '${A}',
    '$${A}': '${A}',
    '$${A}${A}': '${A}alpha',
    '$$${A}': '$${A}',
    '$A $ $$ }{': '$A $ $$ }{',
  }
  for (const [text, expected] of Object.entries(cases)) t.equal(substitute(text, env), expected, text)
})

t.test('any other use of ${ is an error', async (t) => {
  const cases = [
    '${',
    '${A',
    '${}',
    '${ A}',
    '${A }',
    '${1}',
    '${A-b}',
    '${A:=b}',
    '${A:?b}',
    '${a.b}',
    '${A:-${B}}',
  ]
  // An inherited property is not set.
  for (const text of [...cases, '${NONE}', '${toString}']) refuses(t, (value) => substitute(value, env), text)
})

t.test('a variable changes a value, never the structure around it', async (t) => {
  const injected = 'x\nops: 0.0.0.0:1\n'
  await faultsAt(t, `${BASE}listen: \${X}\n`, '3:9', { X: injected })
  await faultsAt(t, `${BASE}trusted_proxies: \${X}\n`, '3:18', { X: '[0.0.0.0/0]' })
  const config = await configOf(t, `tenants: { a: { token: { secrets: ['\${X}'] } } }`, {
    X: `", x: [*a] #${'\n'.repeat(32)}`,
  })
  t.equal(config.tenants.get('a')?.token.secrets.length, 1)
})

t.test('a variable is a string, and true, false or a number where the schema has one', async (t) => {
  const text = `tenants: { '007': { token: { secrets: ['\${S}'] } } }
upstreams: { u: { targets: ['\${U}'], pass_host: \${T}, allow_semicolons: "\${F:-true}" } }
default_tenant: \${N}
workers: \${W:-1}
`.replace('pass_host: ${T}', "pass_host: '${T}'")
  const config = await configOf(t, text, { S: '1'.repeat(40), U: 'http://a', T: 'true', N: '007' })
  t.match(config.upstreams.get('u'), { passHost: true, allowSemicolons: true })
  t.equal(config.defaultTenant, '007')
  t.same(Buffer.from(config.tenants.get('007')?.token.secrets[0] ?? []).toString(), '1'.repeat(40))

  const wrong = BASE.replace('9001', "9001'], pass_host: '${T}', x: ['").replace(", x: ['']", '')
  await faultsAt(t, wrong, '2:69', { T: 'yes' })
  await faultsAt(t, wrong.replace('${T}', 'true'), '2:69')
})

t.test('an unset variable is an error at its position, in any place', async (t) => {
  await faultsAt(t, `${BASE}drain: 1s # \${COMMENT}\nlisten: x\${NONE}\n`, '4:9')
  const table = "upstream: '${UP}'\nroutes: { GET /a: { permission: '${P}' } }\n"
  await tableFaultsAt(t, table, '1:11 2:33')
})

t.test('no message proposes to write a secret into the file', async (t) => {
  const tenant = (settings: string) => BASE.replace('token:', `${settings}, token:`)
  await faultsAt(t, BASE.replace(SECRET, '${NONE}'), '1:39')
  await faultsAt(
    t,
    tenant(
      "oidc: { issuer: 'https://a.example', client_id: a, client_secret: '${NONE}', redirect_uri: 'https://b.example/auth/oidc/callback' }",
    ),
    '1:86',
  )
  await faultsAt(t, `${BASE}store: postgres://gate:\${NONE}@db/seatgate\n`, '3:8')
  await faultsAt(t, `${BASE}redis: redis://gate:\${NONE}@cache\n`, '3:8')
})

t.test('a key is literal, and has the same escape', async (t) => {
  for (const [text, expected] of [
    ['plain $ { }', 'plain $ { }'],
    ['$${A}', '${A}'],
    ['$$${A}', '$${A}'],
    ['$${$${', '${${'],
    ['${A}', null],
    ['$${A}${A}', null],
    ['${', null],
  ] as const) {
    t.equal(literalKey(text), expected, text)
    t.equal(literalKey(escapeVariables(text)), text, 'escaped')
  }
})

t.test('variables in keys are not replaced', async (t) => {
  await faultsAt(t, `${BASE}'\${A}': 1\n`, '3:1', { A: 'listen' })
})

t.test('numbers, true and false from a variable equal literal ones', async (t) => {
  const numbers = 'limits: { connections: "${N}", header_fields: "${M:-50}" }\nproxy_protocol: ${P}\n'
  const text = `${BASE}trusted_proxies: [10.0.0.0/8]\n${numbers}`
  const config = await configOf(t, text, { N: '100', P: 'true' })
  t.match(config, { limits: { connections: 100, headerFields: 50 }, proxyProtocol: true })
  for (const N of ['1e3', '0x10', ' 100', '0100', '99999999999999999999', '0', '-5'])
    await faultsAt(t, text, '4:24', { N, P: 'true' })
  await faultsAt(t, `${BASE}limits: { connections: "100" }\n`, '3:24')
})
