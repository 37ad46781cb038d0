/** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`: what they mean, and what is refused. */

import t from 'tap'
import { proxyFor, proxyText, readProviderProxies } from '../../src/config/provider-proxies.ts'
import { pack, unpack } from '../../src/config/worker-copy.ts'
import { Folder, SECRET } from './support.ts'

const ISSUERS = [{ key: 'issuer', place: { file: 'gateway.config.yaml', line: 1, column: 1 } }]
const PASSWORD = 'hush-hush-secret'

const read = (env: Record<string, string>) => readProviderProxies(env, ISSUERS)

function proxyOf(url: string, env: Record<string, string>): string | null {
  const proxy = proxyFor(new URL(url), read(env).proxies)
  return proxy === null ? null : proxyText(proxy)
}

t.test('the variable of the scheme, in lower case first', async (t) => {
  const both = { HTTPS_PROXY: 'http://a:3128', HTTP_PROXY: 'http://b' }
  t.equal(proxyOf('https://login.example', both), 'the proxy http://a:3128 of HTTPS_PROXY')
  t.equal(proxyOf('https://login.example', { HTTP_PROXY: 'http://b' }), null)
  t.match(
    proxyOf('https://login.example', { ...both, https_proxy: 'c:8080' }),
    'http://c:8080 of https_proxy',
  )
  t.match(proxyOf('https://login.example', { ...both, https_proxy: '' }), 'http://a:3128')
  t.equal(proxyOf('https://login.example', { HTTPS_PROXY: ' ' }), null)
  t.match(proxyOf('https://login.example', { HTTPS_PROXY: 'https://[fd00::1]/' }), 'https://[fd00::1]:443')
})

t.test('what is on this machine is asked directly', async (t) => {
  const both = { HTTPS_PROXY: 'http://a', HTTP_PROXY: 'http://b' }
  for (const host of [
    '127.0.0.1',
    '127.0.0.1:8443',
    '127.9.9.9',
    'localhost',
    'LOCALHOST.',
    'idp.localhost',
    '[::1]',
    '[::1]:8443',
  ])
    for (const scheme of ['http', 'https'])
      t.equal(proxyOf(`${scheme}://${host}`, both), null, `${scheme}://${host}`)
  for (const host of ['127.example', '127.0.0.1.example', 'localhost.example', '[::2]', '10.0.0.1'])
    t.match(proxyOf(`https://${host}`, both), 'http://a:80', host)
})

t.test('without an issuer nothing is read', async (t) => {
  const { proxies, faults } = readProviderProxies({ HTTPS_PROXY: 'nonsense://' }, [])
  t.equal(proxies.https, null)
  t.same(faults, [])
})

t.test('credentials', async (t) => {
  const { https } = read({ HTTPS_PROXY: 'http://seat%40gate:p%3Aw%2Fd@a' }).proxies
  t.equal(https?.authorization, `Basic ${Buffer.from('seat@gate:p:w/d').toString('base64')}`)
  const { proxies } = read({ HTTPS_PROXY: 'http://user@a', NO_PROXY: 'x' })
  t.equal(proxies.https?.authorization, `Basic ${Buffer.from('user:').toString('base64')}`)
  t.same(unpack(structuredClone(pack(proxies))), proxies, 'workers get a copy')
})

t.test('hosts without a proxy', async (t) => {
  const cases: [except: string, direct: string[], proxied: string[]][] = [
    ['*', ['https://a.example', 'https://10.0.0.1', 'https://[::1]'], []],
    [
      'example',
      ['https://example', 'https://a.EXAMPLE', 'https://a.b.example.'],
      ['https://anexample', 'https://example.org'],
    ],
    ['.example', ['https://example', 'https://a.example'], ['https://anexample']],
    ['*.example', ['https://example', 'https://a.example'], ['https://anexample']],
    ['a.example:8443', ['https://a.example:8443'], ['https://a.example']],
    ['a.example:443', ['https://a.example'], ['https://a.example:8443']],
    ['other, a.example  b.example', ['https://a.example', 'https://b.example'], ['https://c.example']],
    ['10.0.0.1', ['https://10.0.0.1'], ['https://10.0.0.10', 'https://10.0.0.1.example']],
    ['0.0.1', [], ['https://10.0.0.1']],
    ['10.0.0.0/8', ['https://10.9.9.9'], ['https://11.0.0.1', 'https://10.example', 'https://[::a]']],
    ['10.0.0.0/99,10.0.0.0/x,/8,:443', [], ['https://10.0.0.1', 'https://a.example']],
    ['::a', ['https://[::a]', 'https://[::a]:8443'], ['https://[::2]', 'https://1']],
    ['[::a]:8443', ['https://[::a]:8443'], ['https://[::a]']],
    ['fd00::/8', ['https://[fd12::1]'], ['https://[fe80::1]']],
  ]
  for (const [except, direct, proxied] of cases) {
    const env = { https_proxy: 'http://a', no_proxy: except }
    for (const url of direct) t.equal(proxyOf(url, env), null, `${except}: ${url}`)
    for (const url of proxied) t.match(proxyOf(url, env), 'http://a:80', `${except}: ${url}`)
  }
})

const CONFIGURATION = `tenants: { acme: { token: { secrets: ['${SECRET}'] }, issuers: [
  { issuer: "https://login.example", audience: gate, seats_claim: seats } ] } }
upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }
routes: []
`

t.test('a faulty URL is refused with the name of its variable', async (t) => {
  const folder = new Folder(t, { 'gateway.config.yaml': CONFIGURATION })
  const faulty = [
    'socks5://user:PASSWORD@a:1080',
    'http://',
    'http://a:99999',
    'http://user:PASSWORD/x@a:3128',
    'http://a/path',
    'http://a?PASSWORD',
    'http://us%3Aer:PASSWORD@a',
    'http://user:PASSWORD%0d%0ax@a',
    'http://user:PASSWORD%zz@a',
  ]
  for (const [index, value] of faulty.entries()) {
    const variable = ['HTTPS_PROXY', 'https_proxy'][index % 2] ?? ''
    const printed = await folder.faultsAt(t, '2:13', { [variable]: value.replace('PASSWORD', PASSWORD) })
    t.match(printed, `${variable} `)
    t.notMatch(printed, PASSWORD)
  }
  const { config } = await folder.load({ HTTPS_PROXY: `http://user:${PASSWORD}@proxy.example:3128` })
  t.equal(config?.providerProxies.https?.host, 'proxy.example')
})

t.test('from .env, too', async (t) => {
  const folder = new Folder(t, {
    'gateway.config.yaml': CONFIGURATION,
    '.env': 'HTTPS_PROXY=http://a:3128\n',
  })
  t.equal((await folder.load()).config?.providerProxies.https?.port, 3128)
})
