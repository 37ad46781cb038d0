/** The suites of TLS 1.2 that a configured listener has, by default and otherwise; and for how long its tickets hold. */

import { once } from 'node:events'
import { connect, type ConnectionOptions, getCiphers } from 'node:tls'
import t, { type Test } from 'tap'
import { TlsAcceptor } from '../../../src/http/server/tls-acceptor.ts'
import { BASE, Folder } from '../../config/support.ts'
import { until } from '../../support/until.ts'
import { authority, certificate, openSecured, SECRETS, USUAL } from './tls-support.ts'

const ec = authority.issue({ names: ['a.example'] })
const rsa = authority.issue({ names: ['rsa.example'], rsa: true })
const FILES = { 'ec.pem': ec.cert, 'ec.key': ec.key, 'rsa.pem': rsa.cert, 'rsa.key': rsa.key }

/** @param more settings of `tls` @returns the port */
async function listen(t: Test, more = ''): Promise<number> {
  const pairs = '[{ cert: ec.pem, key: ec.key }, { cert: rsa.pem, key: rsa.key }]'
  const text = `${BASE}listen: [{ address: "127.0.0.1:1", tls: { certificates: ${pairs}${more} } }]\n`
  const { config } = await new Folder(t, { ...FILES, 'gateway.config.yaml': text }).load()
  const tls = config?.listen[0]?.tls
  if (tls === null || tls === undefined) throw new Error('the configuration has a fault')
  return (await openSecured(t, new TlsAcceptor({ tls, http2: false, secrets: SECRETS }))).port
}

/** The suite of a handshake; null: there was none. */
async function suite(port: number, options: ConnectionOptions): Promise<string | null> {
  const socket = connect({ port, host: '127.0.0.1', ca: authority.cert, servername: 'a.example', ...options })
  try {
    await once(socket, 'secureConnect')
    return socket.getCipher().name
  } catch {
    return null
  } finally {
    socket.destroy()
  }
}

/** Every suite of TLS 1.2 that this OpenSSL can offer beside a certificate. */
const ALL = getCiphers()
  .map((name) => name.toUpperCase())
  .filter((name) => !/^TLS_|PSK|SRP|NULL|^ADH|^AECDH/.test(name))

/** Those that a server accepts which has both kinds of certificate. */
async function accepted(port: number): Promise<string[]> {
  const found: string[] = []
  for (const ciphers of ALL)
    for (const servername of ['a.example', 'rsa.example']) {
      const options = { ciphers: `${ciphers}:@SECLEVEL=0`, servername, maxVersion: 'TLSv1.2' } as const
      const name = await suite(port, options).catch(() => null)
      if (name !== null && !found.includes(name)) found.push(name)
    }
  return found.sort()
}

const AEAD = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305']

t.test('by default: ECDHE with an AEAD alone, and TLS 1.3', async (t) => {
  const port = await listen(t)
  t.ok(ALL.includes('AES128-SHA') && ALL.includes('ECDHE-RSA-AES128-SHA'), 'others are tried')
  t.same(
    await accepted(port),
    ['ECDSA', 'RSA'].flatMap((key) => AEAD.map((each) => `ECDHE-${key}-${each}`)),
  )
  t.match(await suite(port, { minVersion: 'TLSv1.3' }), /^TLS_/)
})

t.test('others by `ciphers`, in the order of the setting', async (t) => {
  const names = 'ECDHE-RSA-AES128-SHA256:AES128-SHA:ECDHE-ECDSA-AES256-GCM-SHA384'
  const port = await listen(t, `, ciphers: "${names}"`)
  t.same(await accepted(port), names.split(':').sort())
  t.match(await suite(port, { minVersion: 'TLSv1.3' }), /^TLS_/)
  const both = 'AES128-SHA:ECDHE-RSA-AES128-SHA256'
  const options = { ciphers: both, servername: 'rsa.example', maxVersion: 'TLSv1.2' } as const
  t.equal(await suite(port, options), 'ECDHE-RSA-AES128-SHA256')
})

t.test('faults of `ciphers`', async (t) => {
  for (const [value, more = ''] of [
    [''],
    ['HIGH'],
    ['ECDHE+AESGCM'],
    ['AES128-SHA:!MD5'],
    ['AES128-SHA,AES256-SHA'],
    ['aes128-sha'],
    ['ECDHE-RSA-AES128-GCM-SHA265'],
    ['AES128-SHA:AES128-SHA'],
    ['TLS_AES_128_GCM_SHA256'],
    ['DHE-RSA-AES128-GCM-SHA256'],
    ['ECDHE-ECDSA-NULL-SHA'],
    ['AES128-SHA', ', min_version: "1.3"'],
  ] as const)
    await t.rejects(listen(t, `, ciphers: "${value}"${more}`), /has a fault/, value)
})

/** What a TLS client keeps of a session, as OpenSSL writes it (`SSL_SESSION_ASN1`): the announced lifetime, in seconds. */
function announced(session: Buffer): number {
  const start = ['3082', '3081'].map((each) => session.indexOf(each, 0, 'hex')).find((at) => at >= 0) ?? 0
  const whole = elements(session.subarray(start))[0]?.[1]
  const hint = elements(whole ?? Buffer.alloc(0)).find(([tag]) => tag === 0xa9)?.[1]
  return hint === undefined ? Number.NaN : hint.readUIntBE(2, hint[1] ?? 0)
}

/** Tag and content of each element (X.690, section 8.1). */
function elements(bytes: Buffer): (readonly [number, Buffer])[] {
  const found: (readonly [number, Buffer])[] = []
  for (let at = 0; at + 1 < bytes.length;) {
    const first = bytes.readUInt8(at + 1)
    const more = first < 128 ? 0 : first & 127
    const from = at + 2 + more
    const length = more === 0 ? first : bytes.readUIntBE(at + 2, more)
    found.push([bytes.readUInt8(at), bytes.subarray(from, from + length)])
    at = from + length
  }
  return found
}

/** One request. @returns the session that came with it, and whether the offered one was resumed */
async function visit(port: number, options: ConnectionOptions) {
  const socket = connect({ port, host: '127.0.0.1', ca: authority.cert, servername: 'a.example', ...options })
  let session: Buffer | undefined
  socket.on('session', (bytes) => (session = bytes))
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  const resumed = socket.isSessionReused()
  socket.destroy()
  return { session, resumed }
}

const a = certificate(['a.example'], ec)
const checkServerIdentity = () => undefined

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
  t.test(`a ticket announces how long it holds, ${maxVersion}`, async (t) => {
    const of = (more = {}) =>
      openSecured(
        t,
        new TlsAcceptor({ tls: { certificates: [a], ...USUAL }, http2: false, secrets: SECRETS, ...more }),
      )
    const { port } = await of()
    for (const servername of ['a.example', '']) {
      const { session } = await visit(port, { maxVersion, servername, checkServerIdentity })
      t.equal(announced(session ?? Buffer.alloc(0)), 300, `5 minutes, as the manual says; ${servername}`)
    }
    const short = await of({ sessionTimeout: 2 })
    const startedAt = Date.now()
    const { session } = await visit(short.port, { maxVersion })
    t.equal(announced(session ?? Buffer.alloc(0)), 2)
    await until(
      async () => !(await visit(short.port, { maxVersion, session })).resumed,
      'the end of the session',
      { pause: 100 },
    )
    t.ok(Date.now() - startedAt >= 1000, 'in whole seconds')
  })
