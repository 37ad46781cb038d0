import { createServer } from 'node:net'
import t from 'tap'
import { address, addressesConflict, cidr, origin } from '../../src/config/addresses.ts'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import type { Address } from '../../src/config/config.ts'
import { BASE, configOf, faultsAt, refuses } from './support.ts'

function at(text: string): Address {
  const read = address(text)
  if (read instanceof InvalidValue) throw new Error(read.message)
  return read
}

t.test('listener addresses', async (t) => {
  t.same(address('0.0.0.0:8080'), { host: '0.0.0.0', port: 8080 })
  t.same(address('[::1]:0'), { host: '::1', port: 0 })
  t.same(address('gw_1.internal:65535'), { host: 'gw_1.internal', port: 65535 })
  const texts = [
    '',
    '8080',
    'localhost',
    'http://a:80',
    ':8080',
    '*:8080',
    '::1:8080',
    '[::1]',
    '[localhost]:80',
    '[1.2.3.4]:80',
    '1.2.3.4:',
    '1.2.3.4:65536',
    '1.2.3.4:080',
    '1.2.3.4:-1',
    '1.2.3.4:8o',
    '256.1.1.1:80',
    '127.1:80',
    '0x7f.0.0.1:80',
    '1.2.3.04:80',
    'a b:80',
    '-a:80',
    'a..b:80',
    'é:80',
    'a\n:80',
    `${'a'.repeat(64)}:80`,
  ]
  for (const text of texts) refuses(t, address, text)
})

t.test('two listeners on one address', async (t) => {
  const pairs: [string, string, boolean][] = [
    ['1.1.1.1:80', '1.1.1.1:80', true],
    ['1.1.1.1:80', '1.1.1.1:81', false],
    ['1.1.1.1:80', '1.1.1.2:80', false],
    ['0.0.0.0:80', '127.0.0.1:80', true],
    ['localhost:80', '127.0.0.1:80', true],
    ['[::]:80', '127.0.0.1:80', true],
    ['[::]:80', '[::1]:80', true],
    ['0.0.0.0:80', '[::1]:80', false],
    ['[::1]:80', '[0:0:0:0:0:0:0:1]:80', true],
    ['a.example:80', 'A.EXAMPLE:80', true],
    ['1.1.1.1:0', '1.1.1.1:0', false],
  ]
  for (const [a, b, expected] of pairs) {
    t.equal(addressesConflict(at(a), at(b)), expected, `${a} ${b}`)
    t.equal(addressesConflict(at(b), at(a)), expected, `${b} ${a}`)
  }
  await faultsAt(t, `${BASE}listen: 0.0.0.0:80\nops: 127.0.0.1:80\n`, '4:6')
  // With a default.
  await faultsAt(t, `${BASE}listen: 127.0.0.1:9090\n`, '3:9')
})

t.test('conflicting addresses cannot both be bound, others can', async (t) => {
  const listen = (host: string, port: number) =>
    new Promise<ReturnType<typeof createServer> | null>((resolve) => {
      const server = createServer()
      server.once('error', () => resolve(null)).listen(port, host, () => resolve(server))
    })
  for (const [a, b] of [
    ['0.0.0.0', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.2'],
    ['localhost', '127.0.0.1'],
  ] as const) {
    const first = await listen(a, 0)
    const bound = first?.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    const second = await listen(b, port)
    t.equal(second === null, addressesConflict({ host: a, port }, { host: b, port }), `${a} ${b}`)
    first?.close()
    second?.close()
  }
})

t.test('target URLs', async (t) => {
  const good = {
    'http://127.0.0.1:9001': 'http://127.0.0.1:9001',
    'HTTPS://Ex.Ample:443': 'https://ex.ample',
    'http://[::1]:8': 'http://[::1]:8',
    'http://my_service': 'http://my_service',
  }
  for (const [text, expected] of Object.entries(good)) {
    const read = origin(text)
    t.equal(read instanceof URL && read.origin, expected)
  }
  const texts = [
    '',
    'ftp://a',
    '//a',
    'http:/a',
    ' http://a',
    'http://',
    'http://a/',
    'http://a/b',
    'http://a?x',
    'http://a?',
    'http://a#',
    'http://a\\b',
    'http://u:p@a',
    'http://@a',
    'http://a b',
    'http://a\t',
    'http://1',
    'http://0x7f000001',
    'http://127.1',
    'http://017700000001',
    'http://[::1',
    'http://[fe80::1%25eth0]',
    'http://ex%61mple',
    'http://a:',
    'http://a:0',
    'http://a:65536',
    'http://a:080',
    'http://a:1:2',
    'http://bücher',
  ]
  for (const text of texts) refuses(t, origin, text)
})

t.test('trusted proxies', async (t) => {
  for (const text of [
    '10.0.0.0/8',
    '0.0.0.0/0',
    '1.2.3.4',
    '1.2.3.4/32',
    '::1',
    'fd00::/8',
    '::/0',
    '::1/128',
  ])
    t.equal(cidr(text), text)
  for (const text of [
    '',
    'x',
    'localhost',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '010.0.0.0/8',
    '::1/129',
    'fe80::1%eth0',
    'fe80::%1/64',
    '10.0.0.0/255.0.0.0',
    ' ::1',
    '10.0.0.0/8 ',
  ])
    refuses(t, cidr, text)
})

t.test('where others reach the instance', async (t) => {
  const advertised = async (text: string) => (await configOf(t, `${BASE}advertise: ${text}\n`)).advertise
  t.equal((await configOf(t, BASE)).advertise, null)
  for (const [written, read = written] of [
    ['http://10.0.0.7:8080'],
    ['https://gate-1.internal'],
    ['http://[::1]:80', 'http://[::1]'],
    ['HTTPS://Gate.Internal:443', 'https://gate.internal'],
  ] as const)
    t.equal(await advertised(written), read)
  for (const text of [
    "''",
    '10.0.0.7:8080',
    'ftp://10.0.0.7',
    'http://10.0.0.7:8080/',
    'http://10.0.0.7:8080/v1',
    'http://user:secret@10.0.0.7',
    'http://0.0.0.0:8080',
    "'http://[::]:8080'",
    'http://*:8080',
  ])
    await faultsAt(t, `${BASE}advertise: ${text}\n`, '3:12')
})

t.test('host names of the ops listener', async (t) => {
  const config = await configOf(t, `${BASE}ops_hosts: [gateway.internal, Gate_Way.]\n`)
  t.same(config.opsHosts, ['gateway.internal', 'gate_way'])
  t.same((await configOf(t, BASE)).opsHosts, [])
  for (const text of ['10.0.0.1', "'::1'", "'a:80'", "'*.internal'", "''", 'http://a'])
    await faultsAt(t, `${BASE}ops_hosts: [${text}]\n`, '3:13')
})
