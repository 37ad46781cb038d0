/** Name look-ups for a provider against a real DNS server: the system's rules, and bounds. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type { NameLimits } from '../../src/config/provider-limits.ts'
import { NameLookup } from '../../src/oidc/provider/name-lookup.ts'
import { codeOf } from '../../src/oidc/provider/provider-errors.ts'
import { until } from '../support/until.ts'
import { NameServer } from './name-server.ts'

async function namesOf(t: Test, files: { hosts?: string; resolv?: string } = {}, limits: NameLimits = {}) {
  const server = await NameServer.start(t)
  const folder = t.testdir({ hosts: files.hosts ?? '', 'resolv.conf': files.resolv ?? '' })
  const hostsFile = join(folder, 'hosts')
  const patient = { total: 60_000, timeout: 30_000, resolutionDelay: 30_000 }
  const resolvFile = join(folder, 'resolv.conf')
  const names = new NameLookup({ ...patient, servers: [server.address], hostsFile, resolvFile, ...limits })
  const find = (name: string) =>
    names.lookup(name).then(
      (found) => found.map(({ address, family }) => `${family} ${address}`),
      (cause: Error) => (codeOf(cause) === 'ProviderError' ? cause.message : codeOf(cause)),
    )
  return { server, names, find, hostsFile }
}

t.test('both families are returned, IPv4 first', async (t) => {
  const { server, find } = await namesOf(t)
  server.names.set('login.acme.example', ['2001:db8:0:0:0:0:0:1', '192.0.2.1', '192.0.2.2'])
  t.same(await find('LOGIN.acme.example'), ['4 192.0.2.1', '4 192.0.2.2', '6 2001:db8::1'])
  server.names.set('four', ['192.0.2.1'])
  t.same(await find('four'), ['4 192.0.2.1'])
  server.names.set('six', ['2001:db8:0:0:0:0:0:1'])
  t.same(await find('six'), ['6 2001:db8::1'])
})

t.test('missing names, and names without addresses', async (t) => {
  const { server, find } = await namesOf(t)
  t.equal(await find('nowhere.example'), 'ENOTFOUND')
  server.names.set('empty.example', [])
  t.equal(await find('empty.example'), 'ENODATA')
  server.names.set('broken.example', 'SERVFAIL')
  t.equal(await find('broken.example'), 'ESERVFAIL')
  server.names.set('half.example', (type) => (type === 'A' ? ['192.0.2.1'] : 'SERVFAIL'))
  t.same(await find('half.example'), ['4 192.0.2.1'])
})

t.test('localhost is loopback, without a DNS query', async (t) => {
  const { server, find } = await namesOf(t, { hosts: '192.0.2.1 localhost' })
  for (const name of ['localhost', 'LocalHost', 'localhost.', 'kc.localhost'])
    t.same(await find(name), ['4 127.0.0.1', '6 ::1'], name)
  t.same(server.queries, [])
})

t.test('/etc/hosts comes before DNS', async (t) => {
  const hosts = [
    '# 192.0.2.9 kc',
    '10.0.0.5\tkc.internal  KC # 192.0.2.8',
    'fd00::5 kc',
    'x kc',
    '192.0.2.7 other#kc',
  ].join('\n')
  const { server, find, hostsFile } = await namesOf(t, { hosts })
  t.same(await find('kc'), ['4 10.0.0.5', '6 fd00::5'])
  t.same(await find('KC.internal.'), ['4 10.0.0.5'])
  t.same(server.queries, [])
  writeFileSync(hostsFile, '10.0.0.6 kc\n')
  t.same(await find('kc'), ['4 10.0.0.6'], 'the file is read again')
})

t.test('missing files', async (t) => {
  const missing = { hostsFile: '/nowhere/hosts', resolvFile: '/nowhere/resolv.conf' }
  const { server, find } = await namesOf(t, {}, missing)
  server.names.set('kc', ['10.0.0.5'])
  t.same(await find('kc'), ['4 10.0.0.5'])
})

t.test('the search list', async (t) => {
  const resolv = 'nameserver 192.0.2.1\ndomain x\nsearch auth.svc svc. cluster.local\noptions edns0 ndots:2\n'
  const { server, find } = await namesOf(t, { resolv })
  const lookUp = async (name: string) => {
    server.queries.length = 0
    const found = await find(name)
    return [found, [...new Set(server.queries.map((each) => each.split(' ')[0]))]]
  }
  server.names.set('kc.svc', ['10.0.0.5'])
  server.names.set('kc.auth.svc', 'SERVFAIL')
  t.same(await lookUp('kc'), [['4 10.0.0.5'], ['kc.auth.svc', 'kc.svc']])
  server.names.set('login.acme.example', ['192.0.2.1'])
  t.same(await lookUp('login.acme.example'), [['4 192.0.2.1'], ['login.acme.example']])
  t.same(
    await lookUp('acme.example.'),
    ['ENOTFOUND', ['acme.example']],
    'a trailing dot disables the search list',
  )
  t.same(await lookUp('a.b'), ['ENOTFOUND', ['a.b.auth.svc', 'a.b.svc', 'a.b.cluster.local', 'a.b']])
})

t.test('a DNS server that answers for one family only', async (t) => {
  const { server, find } = await namesOf(t, {}, { resolutionDelay: 20 })
  for (const silent of ['A', 'AAAA'] as const) {
    server.names.set(silent, null)
    const name = silent.toLowerCase()
    server.names.set(name, (type) => (type === silent ? null : ['192.0.2.1', '2001:db8:0:0:0:0:0:1']))
    t.same(await find(name), [silent === 'A' ? '6 2001:db8::1' : '4 192.0.2.1'])
  }
})

t.test('a DNS server that never answers', async (t) => {
  const { server, find } = await namesOf(t, { resolv: 'search a b c d e f' }, { total: 200 })
  server.names.set('slow.example', null)
  for (const domain of ['a', 'b', 'c', 'd', 'e', 'f']) server.names.set(`slow.example.${domain}`, null)
  t.equal(await find('slow.example'), 'ETIMEOUT')
  t.ok(server.count('slow.example') <= 2, 'no query after the deadline')
  const { server: other, find: findThere } = await namesOf(t, {}, { timeout: 20 })
  other.names.set('slow.example', null)
  t.equal(await findThere('slow.example'), 'ETIMEOUT', 'the timeout of a query')
  t.ok(other.count('slow.example') <= 4, 'two attempts for each family')
})

t.test('the number of concurrent look-ups is bounded', async (t) => {
  const { server, find } = await namesOf(t, {}, { maxInFlight: 2 })
  for (const name of ['one', 'two', 'three']) server.names.set(name, null)
  const waiting = [find('one'), find('two'), find('one'), find('ONE')]
  t.equal(await find('three'), "too many look-ups of the provider's host names are pending")
  await until(
    () => server.queries.length === 4,
    () => `${server.queries.length} queries`,
  )
  server.release()
  t.same(await Promise.all(waiting), Array(4).fill('ENOTFOUND'))
  t.equal(server.count('one'), 2, 'concurrent look-ups of one name are shared')
  server.names.set('three', ['192.0.2.1'])
  t.same(await find('three'), ['4 192.0.2.1'])
})
