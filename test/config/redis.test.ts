/** `redis:` in every form. */

import t from 'tap'
import { redisUrl } from '../../src/config/redis-settings.ts'
import { Authority } from '../proxy/authority.ts'
import { BASE, faultsAt, Folder, refuses } from './support.ts'

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
  const authority = new Authority()
  const { cert, key } = authority.issue({ names: ['gate'] })
  const { path } = new Folder(t, { 'tls/ca.pem': authority.cert, 'c.pem': cert, 'k.pem': key })
  t.same(redisUrl(`rediss://127.0.0.1?ca=tls/ca.pem&cert=${path}/c.pem&key=k.pem`, path), {
    ...PLAIN,
    tls: true,
    ca: authority.cert,
    cert,
    key,
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
  const cases = [
    'http://h',
    'redis:h',
    'redis+nothing://h',
    'redis://',
    'redis://h:0',
    'redis://h:70000',
    'redis://h b',
    'redis://a,b',
    'redis://h/x',
    'redis://h/1/2',
    'redis+sentinel://h',
    'redis+cluster://h/1',
    'redis://u:%zz@h',
    'redis://h?prefx=a',
    // The name may be a part of a password that is not percent-encoded.
    'redis://u:12?ss=x@h',
    'redis://h?prefix=a&prefix=b',
    'redis://h?prefix=',
    'redis://h?prefix=a%20b',
    'redis://h?ca=x.pem',
    'rediss://h?cert=x.pem',
  ]
  for (const text of cases) refuses(t, read, text)
})

t.test('an unreadable file is a configuration error', async (t) => {
  for (const query of ['ca=missing.pem', 'cert=own.pem&key=missing.pem', 'ca=p@ss.pem'])
    await faultsAt(t, `${BASE}redis: rediss://127.0.0.1:6379?${query}\n`, '3:8')
})

t.test('a key of another certificate', async (t) => {
  const authority = new Authority()
  const { path } = new Folder(t, {
    'c.pem': authority.issue({ names: [] }).cert,
    'k.pem': authority.issue({ names: [] }).key,
  })
  refuses(t, (text) => redisUrl(text, path), 'rediss://h?cert=c.pem&key=k.pem')
})
