/** `cors` of a route table: its canonical form, and each fault with its place. */

import t, { type Test } from 'tap'
import { corsKey } from '../../src/model/cors.ts'
import { BASE, Folder, tableFaultsAt } from './support.ts'

const ROUTES = 'routes:\n  GET /a: public\n'

async function corsOf(t: Test, cors: string, env: NodeJS.ProcessEnv = {}) {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: [r.yaml]\n`,
    'r.yaml': `upstream: main\n${cors}${ROUTES}`,
  })
  const { config, faults } = await folder.load(env)
  if (config === null) throw new Error(faults.map((each) => each.message).join('\n'))
  return { cors: config.routes[0]?.cors, hash: config.hash }
}

t.test('a table without it', async (t) => {
  t.equal((await corsOf(t, '')).cors, undefined)
})

t.test('defaults', async (t) => {
  t.same((await corsOf(t, 'cors: { origins: [https://app.example] }\n')).cors, {
    origins: ['https://app.example'],
    credentials: false,
    headers: ['authorization', 'content-type', 'space', 'x-api-key'],
    expose: ['retry-after', 'www-authenticate', 'x-request-id'],
    maxAge: 600,
  })
})

t.test('every key', async (t) => {
  const { cors } = await corsOf(
    t,
    `cors:
  origins: [https://app.example, http://localhost:3000]
  credentials: true
  headers: [If-Match, Authorization]
  expose: [ETag, X-Request-Id]
  max_age: 1500ms
`,
  )
  t.same(cors, {
    origins: ['https://app.example', 'http://localhost:3000'],
    credentials: true,
    headers: ['authorization', 'content-type', 'space', 'x-api-key', 'if-match'],
    expose: ['retry-after', 'www-authenticate', 'x-request-id', 'etag'],
    maxAge: 1,
  })
  t.ok(Object.isFrozen(cors) && Object.isFrozen(cors?.origins) && Object.isFrozen(cors?.headers))
})

t.test('origins are kept as browsers send them', async (t) => {
  const origins = 'HTTPS://App.Example:443, "http://[0:0::1]:80", "${APP}", http://127.0.0.1:8080'
  const { cors } = await corsOf(t, `cors: { origins: [${origins}] }\n`, { APP: 'https://b.example:8443' })
  t.same(cors?.origins, [
    'https://app.example',
    'http://[::1]',
    'https://b.example:8443',
    'http://127.0.0.1:8080',
  ])
})

t.test('origins of apps and extensions', async (t) => {
  const origins = [
    'capacitor://localhost',
    'ionic://localhost',
    'tauri://localhost',
    'app://obsidian.md',
    'vscode-webview://0b7t9f1hk8r4k',
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    'moz-extension://5d3f8a0e-0a55-4a3c-9f0e-2d1c8f0a7b11',
    'safari-web-extension://E5D0CE5B-7A6F-4B7E-9C1A-0F6C5E2D1B3A',
    'capacitor://app:8080',
  ]
  t.same((await corsOf(t, `cors: { origins: ${JSON.stringify(origins)} }\n`)).cors?.origins, origins)
})

/** The keys of `cors`, one a line from line 3 on → the place of the fault. */
const FAULTS: readonly (readonly [string, string])[] = [
  ['credentials: true', '2:1'],
  ['origins: []', '3:12'],
  ['origins: https://app.example', '3:12'],
  ['origins: [https://app.example/]', '3:13'],
  ['origins: [https://app.example/path]', '3:13'],
  ['origins: [https://app.example?q]', '3:13'],
  ['origins: [https://u:p@app.example]', '3:13'],
  ['origins: [app.example]', '3:13'],
  ['origins: [ftp://app.example]', '3:13'],
  ['origins: [capacitor://localhost/]', '3:13'],
  ['origins: ["capacitor://"]', '3:13'],
  ['origins: ["tauri://*"]', '3:13'],
  ['origins: [CAPACITOR://localhost]', '3:13'],
  ['origins: [chrome-extension://u@abc]', '3:13'],
  ['origins: ["app://a b"]', '3:13'],
  ['origins: [tauri://localhost:0]', '3:13'],
  ['origins: [capacitor://localhost, capacitor://localhost]', '3:36'],
  ['origins: ["javascript://a"]', '3:13'],
  ['origins: [data://a]', '3:13'],
  ['origins: [file:///]', '3:13'],
  ['origins: ["null"]', '3:13'],
  ['origins: ["https://*.example"]', '3:13'],
  ['origins: ["https://*"]', '3:13'],
  ['origins: [https://bücher.example]', '3:13'],
  ['origins: [https://app.example, "HTTPS://APP.example:443"]', '3:34'],
  ['origins: ["https://a.example, https://b.example"]', '3:13'],
  ['origins: [https://a.example:0]', '3:13'],
  ['origins: ["*", https://app.example]', '3:12'],
  ['origins: ["*"]\n  credentials: true', '4:16'],
  ['origins: [https://a.example]\n  credentials: yes please', '4:16'],
  ['origins: [https://a.example]\n  headers: ["*"]', '4:13'],
  ['origins: [https://a.example]\n  headers: [x-a, X-A]', '4:18'],
  ['origins: [https://a.example]\n  headers: ["a b"]', '4:13'],
  ['origins: [https://a.example]\n  expose: ["x: 1"]', '4:12'],
  ['origins: [https://a.example]\n  expose: ["*"]', '4:12'],
  ['origins: [https://a.example]\n  max_age: 2d', '4:12'],
  ['origins: [https://a.example]\n  max_age: 600', '4:12'],
  ['origins: [https://a.example]\n  maxage: 1h', '4:3'],
]

t.test('faults', async (t) => {
  for (const [keys, expected] of FAULTS) {
    await tableFaultsAt(t, `upstream: main\ncors:\n  ${keys}\n${ROUTES}`, expected)
  }
})

t.test('a header cannot be written into another', async (t) => {
  for (const name of ['x\\r\\nSet-Cookie', 'x\\ny', 'a,b', ''])
    for (const key of ['headers', 'expose']) {
      const text = `upstream: main\ncors: { origins: [https://a.example], ${key}: ["${name}"] }\n${ROUTES}`
      await tableFaultsAt(t, text, key === 'headers' ? '2:49' : '2:48')
    }
})

t.test('the content hash', async (t) => {
  const { hash: without } = await corsOf(t, '')
  const of = async (text: string) => (await corsOf(t, `cors: { ${text} }\n`)).hash
  const first = await of('origins: [https://a.example, https://b.example], headers: [x-a, x-b]')
  t.not(first, without, 'the table has a policy')
  t.equal(await of('origins: [https://b.example, https://a.example], headers: [x-b, x-a, space]'), first)
  const others = [
    'origins: [https://a.example]',
    'origins: [https://a.example, https://b.example]',
    'origins: [https://a.example, https://b.example], headers: [x-a, x-b], credentials: true',
    'origins: [https://a.example, https://b.example], headers: [x-a, x-b], expose: [etag]',
    'origins: [https://a.example, https://b.example], headers: [x-a, x-b], max_age: 1h',
  ]
  const hashes = new Set([without, first])
  for (const each of others) hashes.add(await of(each))
  t.equal(hashes.size, 2 + others.length, 'each part of a policy counts')
})

t.test('lists are no text', async (t) => {
  const base = { credentials: false, headers: [], expose: [], maxAge: 1 }
  t.not(corsKey({ ...base, origins: ['a,b'] }), corsKey({ ...base, origins: ['a', 'b'] }))
})
