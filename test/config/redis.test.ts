/** `redis:` in every form. */

import t from 'tap'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { redisUrl } from '../../src/config/redis.ts'
import { BASE, faultsOf, Folder } from './support.ts'

const read = (text: string) => redisUrl(text, '/etc/gateway')

const PLAIN = {
  mode: 'single',
  tls: false,
  nodes: [{ host: '127.0.0.1', port: 6379 }],
  master: null,
  db: 0,
  username: null,
  password: null,
  sentinelUsername: null,
  sentinelPassword: null,
  prefix: 'seatgate:',
  ca: null,
  cert: null,
  key: null,
}

t.test('valid forms', async (t) => {
  t.same(read('redis://127.0.0.1:6379'), PLAIN)
  t.same(read('redis://127.0.0.1'), PLAIN)
  t.same(read('redis://127.0.0.1/'), PLAIN)
  t.same(read('redis://[::1]:6380/3'), { ...PLAIN, nodes: [{ host: '::1', port: 6380 }], db: 3 })
  t.same(read('redis://:p%40ss@127.0.0.1'), { ...PLAIN, password: 'p@ss' })
  t.same(read('redis://gate:pa:ss@127.0.0.1'), { ...PLAIN, username: 'gate', password: 'pa:ss' })
  t.same(read('redis://127.0.0.1?prefix=acme:'), { ...PLAIN, prefix: 'acme:' })
  const { path } = new Folder(t, { 'tls/ca.pem': '', 'c.pem': '', 'k.pem': '' })
  t.same(redisUrl(`rediss://127.0.0.1?ca=tls/ca.pem&cert=${path}/c.pem&key=k.pem`, path), {
    ...PLAIN,
    tls: true,
    ca: `${path}/tls/ca.pem`,
    cert: `${path}/c.pem`,
    key: `${path}/k.pem`,
  })
  const nodes = [
    { host: 'a', port: 26379 },
    { host: 'b', port: 1 },
  ]
  for (const scheme of ['redis+sentinel', 'redis-sentinel'])
    t.same(read(`${scheme}://a,b:1/main/2?sentinel_password=x`), {
      ...PLAIN,
      mode: 'sentinel',
      nodes,
      master: 'main',
      db: 2,
      sentinelPassword: 'x',
    })
  t.same(read('rediss+cluster://u:p@a:7000,b'), {
    ...PLAIN,
    mode: 'cluster',
    tls: true,
    nodes: [
      { host: 'a', port: 7000 },
      { host: 'b', port: 6379 },
    ],
    username: 'u',
    password: 'p',
  })
})

t.test('invalid forms', async (t) => {
  const cases: [string, RegExp][] = [
    ['http://h', /is not redis:/],
    ['redis:h', /is not redis:/],
    ['redis+nothing://h', /is not redis:/],
    ['redis://', /is not redis:/],
    ['redis://h:0', /not host or host:port/],
    ['redis://h:70000', /not host or host:port/],
    ['redis://h b', /not host or host:port/],
    ['redis://a,b', /several servers/],
    ['redis://h/x', /not a database number/],
    ['redis://h/1/2', /not a database number/],
    ['redis+sentinel://h', /has no master name/],
    ['redis+cluster://h/1', /has only database 0/],
    ['redis://u:%zz@h', /not percent-encoded correctly/],
    ['redis://h?prefx=a', /unknown parameter: the known ones are prefix/],
    ['redis://h?prefix=a&prefix=b', /has the parameter prefix twice/],
    ['redis://h?prefix=', /has a prefix/],
    ['redis://h?prefix=a%20b', /has a prefix/],
    ['redis://h?ca=x.pem', /requires rediss/],
    ['rediss://h?cert=x.pem', /has one of cert and key/],
  ]
  for (const [text, expected] of cases) {
    const result = read(text)
    t.ok(result instanceof InvalidValue && expected.test(result.message), text)
  }
})

t.test('an unreadable file is a configuration error', async (t) => {
  for (const name of ['ca', 'cert=own.pem&key']) {
    const [fault] = await faultsOf(t, `${BASE}redis: rediss://127.0.0.1:6379?${name}=missing.pem\n`)
    t.match(fault, /^3:8: redis: .*has the parameter (ca|cert) with a file that cannot be read: ENOENT/)
  }
})
