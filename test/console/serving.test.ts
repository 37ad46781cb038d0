/** The console as it is served: its paths, header fields and size. `chromium` tests use it. */

import { once } from 'node:events'
import { connect } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { consoleBytes, PAGES } from '../../src/pipeline/console-site.ts'
import { seatgateHere } from '../cli/in-process.ts'
import { readFileSync } from 'node:fs'
import { CERTIFICATES } from '../support/servers/tls.ts'
import { startWorld } from '../support/world.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
const HOME = '/_seatgate/console/'

const world = await startWorld(t, {
  routes: ['GET /_seatgate/other: public', 'ANY /v1/*: public'],
  top: ['console: true', 'api: { prefix: /_seatgate }'],
  secure: CERTIFICATES.server,
})
const get = (path: string, init: RequestInit = {}, { port } = world) =>
  fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init })

t.test('pages are one document, which is not cached', async (t) => {
  const texts = new Set<string>()
  for (const path of [...PAGES, 'seats/new', 'seats/01KAJ0Z1V5Q8T2C0W7M3E9R4XD?name=x', 'users?sub=a%2Fb']) {
    const answer = await get(HOME + path)
    t.equal(answer.status, 200, path)
    t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    t.equal(answer.headers.get('cache-control'), 'no-store')
    t.equal(answer.headers.get('content-security-policy'), POLICY)
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    t.equal(answer.headers.get('referrer-policy'), 'no-referrer')
    t.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin')
    t.equal(answer.headers.get('cross-origin-resource-policy'), 'same-origin')
    texts.add(await answer.text())
  }
  t.equal(texts.size, 1)
  const [text = ''] = texts
  t.match(text, 'data-api="/_seatgate"')
  t.match(text, 'data-auth=""')
  t.notMatch(text, /\{\{|<script>|acme|globex| style=/, 'nothing of a tenant, nothing inline')
})

t.test('the path without a slash leads there', async (t) => {
  const answer = await get('/_seatgate/console')
  t.equal(answer.status, 308)
  t.equal(answer.headers.get('location'), HOME)
  t.equal((await get('/_seatgate/console?a=b')).headers.get('location'), `${HOME}?a=b`)
})

t.test('files have the hash of the content in their path, and stay forever', async (t) => {
  const page = await (await get(HOME)).text()
  const files = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path = '']) => path)
  t.ok(files.length > 20)
  for (const path of new Set(files)) {
    const answer = await get(path)
    t.equal(answer.status, 200, path)
    t.match(path, /^\/_seatgate\/console\/assets\/[0-9a-f]{16}\//)
    t.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    t.equal(answer.headers.get('content-encoding'), 'gzip', 'fetch accepts it')
    const text = await answer.text()
    if (!path.endsWith('.js')) continue
    t.equal(answer.headers.get('content-type'), 'text/javascript; charset=utf-8')
    for (const [, target = ''] of text.matchAll(/\b(?:from|import)\s*["']([^"']+)["']/g)) {
      const url = new URL(target, `http://127.0.0.1${path}`).pathname
      t.ok(target.startsWith('.') && files.includes(url), `${path} imports ${target}`)
    }
  }
})

t.test('a client without gzip gets the plain file', async (t) => {
  const page = await (await get(HOME)).text()
  const [, path = ''] = /href="([^"]+\.css)"/.exec(page) ?? []
  const plain = await world.client.send('GET', path, { 'accept-encoding': 'br, gzip;q=0' })
  t.equal(plain.headers['content-encoding'], undefined)
  t.match(plain.body, ':root')
  t.equal(plain.headers['vary'], 'accept-encoding')
})

t.test('HEAD', async (t) => {
  const answer = await get(HOME, { method: 'HEAD' })
  t.equal(answer.status, 200)
  t.ok(Number(answer.headers.get('content-length')) > 500)
  t.equal(await answer.text(), '')
})

t.test('no other path, method or file', async (t) => {
  const page = await (await get(HOME)).text()
  const [, hash = ''] = /assets\/([0-9a-f]{16})\//.exec(page) ?? []
  for (const path of [
    'favicon.ico',
    'nothing',
    `assets/${hash}/nothing.js`,
    `assets/${hash}/`,
    `assets/${hash}/index.html`,
    `assets/${hash}/tsconfig.json`,
    `assets/${hash}/answers.d.ts`,
    `assets/${'0'.repeat(16)}/main.js`,
  ])
    t.match(await (await get(HOME + path)).json(), { code: 'route_not_found' }, path)
  for (const path of [
    `assets/${hash}/../main.js`,
    `assets/${hash}/%2e%2e/main.js`,
    `assets/${hash}/..%2fmain.js`,
  ])
    t.equal((await world.client.send('GET', HOME + path)).status, 400, path)
  t.equal((await get(HOME, { method: 'POST' })).status, 405)
})

t.test('a browser that opens an unknown page gets the console, which says so, with 404', async (t) => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const { body: page } = await world.client.send('GET', HOME, { accept })
  for (const path of ['nothing', 'nothing/here', 'Seats', 'favicon.ico']) {
    const { status, headers, body } = await world.client.send('GET', HOME + path, { accept })
    t.equal(status, 404, path)
    t.equal(headers['content-type'], 'text/html; charset=utf-8')
    t.equal(headers['content-security-policy'], POLICY)
    t.equal(headers['cache-control'], 'no-store')
    t.equal(body, page)
  }
  const file = `${HOME}assets/${'0'.repeat(16)}/main.js`
  t.match(
    (await world.client.send('GET', file, { accept })).body,
    'route_not_found',
    'no page in place of a file',
  )
})

t.test('over TLS and HTTP/2', async (t) => {
  const session = connect(`https://127.0.0.1:${world.securePort}`, { rejectUnauthorized: false })
  const ask = (path: string) => {
    const stream = session.request({ ':path': path, 'accept-encoding': 'gzip' })
    return Promise.all([once(stream, 'response'), buffer(stream)])
  }
  const [[head], page] = await ask(HOME)
  t.match(head, { ':status': 200, 'content-security-policy': POLICY })
  const [, script = ''] = /src="([^"]+)"/.exec(page.toString()) ?? []
  const [[fields], file] = await ask(script)
  t.match(fields, { ':status': 200, 'content-encoding': 'gzip' })
  t.match(gunzipSync(file).toString(), 'render(')
  session.close()
})

t.test('all of it is at most 120 KB, compressed', async (t) => {
  const bytes = await consoleBytes()
  t.ok(bytes > 10_000 && bytes <= 120_000, `${bytes} bytes`)
  t.comment(`${bytes} bytes`)
})

t.test('the gateway serves the pages that the console has', (t) => {
  const text = readFileSync('seats-admin/console/pages.js', 'utf8')
  const names = [...text.matchAll(/name: '([a-z-]*)'/g)].map(([, name = '']) => name)
  t.same([...names, 'signed-in'].sort(), [...PAGES].sort())
  t.end()
})

t.test('it follows auth_prefix; entries of tables may not take its paths', async (t) => {
  const moved = await startWorld(t, { top: ['console: true', 'api: { auth_prefix: /_gate }'] })
  t.equal((await get(HOME, {}, moved)).status, 404)
  const text = await (await get(`/_gate${HOME}`, {}, moved)).text()
  t.match(text, 'data-auth="/_gate"')
  t.match(text, `data-home="/_gate${HOME}"`)
  const listed = await seatgateHere(world.folder, ['routes', '--filter', '/_seatgate/console/*'], {
    GLOBEX_SECRET: world.keys['globex'] ?? '',
  })
  t.match(listed.out, 'public')
})

t.test('off, its paths are like any other', async (t) => {
  const off = await startWorld(t, { routes: ['GET /_seatgate/console/*: public'] })
  t.equal((await get(`${HOME}seats`, {}, off)).status, 200)
  t.equal(off.upstream.seen.at(-1)?.url, `${HOME}seats`)
  t.equal((await get('/_seatgate/console', {}, off)).status, 404)
  await off.reload()
})
