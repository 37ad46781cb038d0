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

async function faults(t: Test, listen: string, files = {}): Promise<string> {
  return (await folder(t, listen, files).faults()).join('\n')
}

function tls(text: string, address = '127.0.0.1:8443'): string {
  return `[{ address: "${address}", tls: { ${text} } }]`
}

t.test('one address, as before; and a list', async (t) => {
  const plain = { host: '0.0.0.0', port: 8081, tls: null, http2: false }
  t.strictSame((await folder(t, '0.0.0.0:8081').load()).config?.listen, [plain])
  const text = `[{ address: "0.0.0.0:8081" }, { address: "[::1]:8443", http2: true, tls: { ${PAIR}, min_version: "1.3", client_ca: ca.pem, client_auth: request } }]`
  const { config, warnings } = await folder(t, text).load()
  t.strictSame(config?.listen, [
    plain,
    {
      host: '::1',
      port: 8443,
      http2: true,
      tls: {
        certificates: [{ ...good, names: ['a.example', '*.wild.example'] }],
        minVersion: '1.3',
        clientCa: authority.cert,
        clientAuth: 'request',
      },
    },
  ])
  t.match(
    warnings.filter(({ code }) => code !== 'secret_literal'),
    [{ code: 'certificate_expires', message: /^client_ca: / }],
  )
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
    ['[]', /^gateway\.config\.yaml:3:9: listen must have at least one entry/],
    ['7', /listen must be a string or a list/],
    ['[{}]', /listen\[0\] must have the key "address"/],
    ['[{ address: "127.0.0.1" }]', /3:\d+: address: "127\.0\.0\.1" is not host:port/],
    ['[{ address: "127.0.0.1:1", tsl: {} }]', /"tsl" is not a known key \(known keys: address, tls, http2\)/],
    ['[{ address: "127.0.0.1:1", http2: true }]', /http2: needs tls/],
    ['[{ address: "127.0.0.1:1" }, { address: "0.0.0.0:1" }]', /two listeners can not share an address/],
    ['[{ address: "127.0.0.1:1" }, { address: "127.0.0.1:9090" }]', /listen and ops can not share/],
    [tls(''), /tls must have the key "certificates"/],
    [tls('certificates: []'), /certificates must have at least one entry/],
    [tls('certificates: [{ cert: a.pem }]'), /must have the key "key"/],
    [tls(`${PAIR}, min_version: 1.3`), /min_version must be a string/],
    [tls(`${PAIR}, min_version: "1.1"`), /min_version must be one of 1\.2, 1\.3/],
    [tls(`${PAIR}, client_auth: require`), /client_auth: require needs client_ca/],
    [tls(`${PAIR}, client_auth: request`), /client_auth: request needs client_ca/],
    [tls(`${PAIR}, client_ca: a.key`), /client_ca: "a\.key" contains no PEM certificate/],
    [tls('certificates: [{ cert: no.pem, key: a.key }]'), /cert: "no\.pem" cannot be read: ENOENT/],
    [tls(PAIR), /cert: "a\.pem" contains no PEM certificate/, { 'a.pem': 'x' }],
    [
      tls(PAIR),
      /cert: "a\.pem" contains a certificate that has expired on/,
      { 'a.pem': late.cert, 'a.key': late.key },
    ],
    [tls(PAIR), /cert: "a\.pem" contains a certificate that is not valid before/, { 'a.pem': early.cert }],
    [tls(PAIR), /key: "a\.key" contains no PEM private key/, { 'a.key': 'x' }],
    [tls(PAIR), /3:\d+: key: does not match the certificate/, { 'a.key': other.key }],
    [tls(PAIR), /key: cannot be parsed/, { 'a.key': good.key.replace('\n', '\nAAAA') }],
    [tls(`${PAIR.slice(0, -1)}, { cert: b.pem, key: b.key }]`), /the certificate has no DNS name/, pair],
  ] as const) {
    const text = await faults(t, listen, files ?? {})
    t.match(text, fault, listen)
    t.notMatch(text, good.key.split('\n')[1] ?? '', 'no secret')
  }
})

t.test('a certificate that expires soon is a warning', async (t) => {
  const soon = authority.issue({ names, notAfter: new Date(Date.now() + 9 * DAY) })
  const { warnings } = await folder(t, tls(PAIR), { 'a.pem': soon.cert, 'a.key': soon.key }).load()
  t.match(
    warnings.filter(({ code }) => code !== 'secret_literal'),
    [{ code: 'certificate_expires', place: { line: 3 }, message: /^cert: the certificate expires on/ }],
  )
})

t.test('without the machine, certificates are not checked', async (t) => {
  const { loadConfigWithFaults } = await import('../../src/config/load.ts')
  const at = folder(t, tls('certificates: [{ cert: no.pem, key: no.key }]'))
  t.strictSame((await loadConfigWithFaults(at.file('gateway.config.yaml'), null)).faults, [])
})
