/** `listen`: one address, or listeners with TLS; each fault of their files names key, file and what to do. */

import t, { type Test } from 'tap'
import { Authority } from '../proxy/authority.ts'
import { BASE, Folder } from './support.ts'

const authority = new Authority()
const DAY = 86_400_000
const names = ['A.Example', '*.wild.example', '127.0.0.1']
const good = authority.issue({ names, notAfter: new Date(Date.now() + 90 * DAY) })
const PEMS = { 'a.pem': good.cert, 'a.key': good.key, 'ca.pem': authority.cert }
const PAIR = 'certificates: [{ cert: a.pem, key: a.key }]'

function folder(t: Test, listen: string, files = {}): Folder {
  return new Folder(t, { ...PEMS, ...files, 'gateway.config.yaml': `${BASE}listen: ${listen}\n` })
}

function tls(text: string, address = '127.0.0.1:8443'): string {
  return `[{ address: "${address}", tls: { ${text} } }]`
}

t.test('one address, as before; and a list', async (t) => {
  const plain = { host: '0.0.0.0', port: 8081, tls: null, http2: false }
  t.strictSame((await folder(t, '0.0.0.0:8081').load()).config?.listen, [plain])
  const text = `[{ address: "0.0.0.0:8081" }, { address: "[::1]:8443", http2: true, tls: { ${PAIR}, min_version: "1.3", client_ca: ca.pem, client_auth: request } }]`
  const at = folder(t, text)
  const { config } = await at.load()
  t.strictSame(config?.listen, [
    plain,
    {
      host: '::1',
      port: 8443,
      http2: true,
      tls: {
        certificates: [{ ...good, names: ['a.example', '*.wild.example'] }],
        minVersion: '1.3',
        ciphers: [
          'ECDHE-ECDSA-AES128-GCM-SHA256',
          'ECDHE-RSA-AES128-GCM-SHA256',
          'ECDHE-ECDSA-AES256-GCM-SHA384',
          'ECDHE-RSA-AES256-GCM-SHA384',
          'ECDHE-ECDSA-CHACHA20-POLY1305',
          'ECDHE-RSA-CHACHA20-POLY1305',
        ],
        clientCa: authority.cert,
        clientAuth: 'request',
      },
    },
  ])
  await at.warningsAt(t, [])
  t.strictSame(
    config?.sources.listeners.map(({ key, place }) => `${place.line} ${key}`),
    ['3 listen[0].address', '3 listen[1].address'],
  )
})

t.test('the files are watched, also faulty ones', async (t) => {
  const at = folder(t, tls(`${PAIR}, client_ca: ca.pem`))
  const { config, files } = await at.load()
  for (const name of ['a.pem', 'a.key', 'ca.pem']) {
    t.ok(files.includes(at.file(name)))
    t.match(config?.signature, at.file(name))
  }
  at.write({ 'a.pem': 'nothing' })
  t.ok((await at.load()).files.includes(at.file('a.pem')))
})

t.test('faults', async (t) => {
  const ago = (days: number) => new Date(Date.now() - days * DAY)
  const late = authority.issue({ names, notBefore: ago(9), notAfter: ago(2) })
  const early = authority.issue({ names, notBefore: ago(-2), notAfter: ago(-9) })
  const other = authority.issue({ names: [] })
  const pair = { 'b.pem': other.cert, 'b.key': other.key }
  for (const [listen, fault, files] of [
    ['[]', '3:9'],
    ['7', '3:9'],
    ['[{}]', '3:10'],
    ['[{ address: "127.0.0.1" }]', '3:21'],
    ['[{ address: "127.0.0.1:1", tsl: {} }]', '3:36'],
    ['[{ address: "127.0.0.1:1", http2: true }]', '3:43'],
    ['[{ address: "127.0.0.1:1" }, { address: "0.0.0.0:1" }]', '3:49'],
    ['[{ address: "127.0.0.1:1" }, { address: "127.0.0.1:9090" }]', '3:9'],
    [tls(''), '3:39'],
    [tls('certificates: []'), '3:60'],
    [tls('certificates: [{ cert: a.pem }]'), '3:61'],
    [tls(`${PAIR}, min_version: 1.3`), '3:104'],
    [tls(`${PAIR}, min_version: "1.1"`), '3:104'],
    [tls(`${PAIR}, ciphers: HIGH`), '3:100'],
    [tls(`${PAIR}, ciphers: ECDHE-RSA-AES128-GCM-SHA265`), '3:100'],
    [tls(`${PAIR}, ciphers: "AES128-SHA:AES128-SHA"`), '3:100'],
    [tls(`${PAIR}, min_version: "1.3", ciphers: AES128-SHA`), '3:120'],
    [tls(`${PAIR}, client_auth: require`), '3:104'],
    [tls(`${PAIR}, client_auth: request`), '3:104'],
    [tls(`${PAIR}, client_ca: a.key`), '3:102'],
    [tls('certificates: [{ cert: no.pem, key: a.key }]'), '3:69'],
    [tls(PAIR), '3:69', { 'a.pem': 'x' }],
    [tls(PAIR), '3:69', { 'a.pem': late.cert, 'a.key': late.key }],
    [tls(PAIR), '3:69', { 'a.pem': early.cert }],
    [tls(PAIR), '3:81', { 'a.key': 'x' }],
    [tls(PAIR), '3:81', { 'a.key': other.key }],
    [tls(PAIR), '3:81', { 'a.key': good.key.replace('\n', '\nAAAA') }],
    [tls(`${PAIR.slice(0, -1)}, { cert: b.pem, key: b.key }]`), '3:98', pair],
  ] as const) {
    const text = await folder(t, listen, files).faultsAt(t, fault)
    t.notMatch(text, good.key.split('\n')[1] ?? '', 'no secret')
  }
})

t.test('a certificate that expires soon is a warning', async (t) => {
  const inDays = (days: number) => new Date(Date.now() + days * DAY)
  const soon = authority.issue({ names, notBefore: inDays(-81), notAfter: inDays(9) })
  const at = folder(t, tls(PAIR), { 'a.pem': soon.cert, 'a.key': soon.key })
  await at.warningsAt(t, ['certificate_expires 3:69'])
})

t.test('without the machine, certificates are not checked', async (t) => {
  const { loadConfigWithFaults } = await import('../../src/config/load.ts')
  const at = folder(t, tls('certificates: [{ cert: no.pem, key: no.key }]'))
  t.strictSame((await loadConfigWithFaults(at.file('gateway.config.yaml'), null)).faults, [])
})
