/** `seatgate receipt`: what holds, what does not hold and why, and what cannot be read. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { keyFile } from '../../identity/support.ts'
import { startWorld } from '../../support/world.ts'
import { folderWith } from '../command-line.ts'
import { seatgateAt, seatgateHere } from '../in-process.ts'
import { CLAIMS, ID, signing } from './made-receipts.ts'

const SAYS = [
  'tenant acme, signed by https://gw.example, audit entry',
  `5:${CLAIMS.audit.hash}`,
  'partial: user:anna is revoked',
  `  id           ${ID}`,
  '  voids        what was issued until 2026-11-21T11:00:00.000Z',
  '  ended        2 sessions, 1 API key',
  '  cut          at least 1 WebSocket, 0 streams, 3 requests',
  '  reason       laptop stolen',
  '  blocked      new sign-ins too, until 2026-12-21T11:00:00Z',
  '  not reached  signed identity (JWTs) that upstreams have received, until',
  '               2026-11-21T11:01:00Z',
  '  not reached  of_a_later_version',
  '',
  'gateway   answer        after    cut',
  'gate-a:1  acknowledged  3.3 ms   4',
  'gate-b:2  lease ended   1250 ms  unknown',
  '',
]

t.test('a receipt that holds', async (t) => {
  const { jwks, receipt } = signing()
  const folder = folderWith(t, { 'a.receipt': `${receipt()}\n`, 'keys.json': jwks })
  const verified = await seatgateHere(folder, ['receipt', 'verify', 'a.receipt', '--jwks', 'keys.json'])
  t.equal(verified.err, '')
  t.equal(verified.out, ['the receipt holds', ...SAYS].join('\n'))
  t.equal(verified.code, 0)
  const shown = await seatgateHere(folder, ['receipt', 'show', 'a.receipt'])
  t.match(shown, { code: 0, out: SAYS.join('\n'), err: /^note: not verified/ })
  const json = await seatgateHere(folder, ['receipt', 'show', 'a.receipt', '--json'])
  t.strictSame(JSON.parse(json.out), { iss: 'https://gw.example', ...CLAIMS })
  const input = { readInput: async () => readFileSync(join(folder, 'a.receipt')) }
  const piped = ['receipt', 'verify', '-', '--jwks', 'keys.json', '--json']
  const { code, out } = await seatgateAt(input, folder, piped)
  t.strictSame([code, JSON.parse(out).holds, JSON.parse(out).claims.id], [0, true, ID])
})

t.test('the keys of a gateway', async (t) => {
  const key = keyFile(t)
  const world = await startWorld(t, { top: [`identity: { keys: ["${key}"] }`] })
  const { receipt } = signing()
  const folder = folderWith(t, { 'a.receipt': receipt() })
  const verify = (jwks: string) => seatgateHere(folder, ['receipt', 'verify', 'a.receipt', '--jwks', jwks])
  const url = `http://127.0.0.1:${world.port}`
  t.match(await verify(`${url}/.well-known/seatgate/jwks.json`), {
    code: 3,
    out: 'does not hold: none of the keys has its kid\n',
    err: '',
  })
  t.match(await verify(`${url}/nothing`), {
    code: 1,
    out: '',
    err: /has no key set: the answer has status 404/,
  })
  t.match(await verify('http://127.0.0.1:9/keys'), {
    code: 1,
    out: '',
    err: /keys cannot be read: connect ECONNREFUSED 127\.0\.0\.1:9\n$/,
  })
  t.match(await verify('https://'), { code: 1, out: '', err: /is not a URL/ })
})

t.test('what does not hold, and what cannot be read', async (t) => {
  const { jwks, receipt } = signing()
  const text = receipt()
  const [head = '', claims = '', signature = ''] = text.split('.')
  const raised = Buffer.from(claims, 'base64url').toString().replace('"partial"', '"closed"')
  const other = signing()
  const files = {
    'keys.json': jwks,
    'other.json': other.jwks,
    'no-keys.json': '[]',
    'a.receipt': text,
    changed: `${head}.${Buffer.from(raised).toString('base64url')}.${signature}`,
    cut: `${head}.${claims}.`,
    twice: `${text}\n${text}`,
    empty: '',
    binary: '\u0000\u001b[31m',
    'no subject': receipt({ subject: {} }),
    'two subjects': receipt({ subject: { user: 'anna', tenant: true } }),
    'other subject': receipt({ subject: { __proto__: null, seat: 'a' } }),
    'no time': receipt({ at: 'yesterday' }),
    'no instances': receipt({ instances: 'all' }),
  }
  const folder = folderWith(t, files)
  const verify = (file: string, keys = 'keys.json') =>
    seatgateHere(folder, ['receipt', 'verify', file, '--jwks', keys])
  const faults = {
    changed: 'its signature is not of the key that it names',
    cut: 'it is no JWS in compact form',
    twice: 'it is no JWS in compact form',
    empty: 'it is no JWS in compact form',
    binary: 'it is no JWS in compact form',
    'no subject': 'it names no subject that can be revoked',
    'two subjects': 'it names no subject that can be revoked',
    'other subject': 'it names no subject that can be revoked',
    'no time': 'it is not of a revocation: at must be a date-time with an offset',
    'no instances': 'it is not of a revocation: instances must be array',
  }
  for (const [file, fault] of Object.entries(faults)) {
    const ran = await verify(file)
    t.match(ran, { code: 3, err: '' }, file)
    t.match(ran.out.replaceAll(/\s+/g, ' '), `does not hold: ${fault}`, file)
    const json = await seatgateHere(folder, ['receipt', 'verify', file, '--jwks', 'keys.json', '--json'])
    t.match(JSON.parse(json.out), { holds: false, fault }, file)
    if (file !== 'changed')
      t.match(await seatgateHere(folder, ['receipt', 'show', file]), { code: 1, out: '', err: fault }, file)
  }
  t.match(await verify('a.receipt', 'other.json'), { code: 3, out: /none of the keys has its kid/ })
  for (const keys of ['no-keys.json', 'empty', 'binary', 'a.receipt'])
    t.match(await verify('a.receipt', keys), { code: 1, out: '', err: /has no JSON Web Key Set/ }, keys)
  t.match(await verify('missing'), { code: 1, out: '', err: /missing cannot be read: ENOENT/ })
  t.match(await verify('.'), { code: 1, out: '', err: /cannot be read: EISDIR/ })
  t.match(await verify('a.receipt', 'missing'), { code: 1, out: '', err: /missing cannot be read/ })
  t.match(await seatgateHere(folder, ['receipt', 'verify', 'a.receipt']), {
    code: 2,
    err: /--jwks is required/,
  })
})
