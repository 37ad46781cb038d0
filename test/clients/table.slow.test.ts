/** Programs that people use, against one gateway: docs/tls.md has the table of what works, and this test makes it. */

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { join } from 'node:path'
import type { PerformanceEntry } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { Agent, fetch } from 'undici'
import { authority, startSecured } from '../http2/support.ts'
import { startChromium } from '../sign-in/chromium.ts'
import { findProgram } from '../support/servers/binaries.ts'

const run = promisify(execFile)
const MIB = 1024 * 1024
const STREAMED = 5_000_000
const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const PAGE = readFileSync(fileOf('../../docs/tls.md'), 'utf8')

interface BrowserEntry extends PerformanceEntry {
  readonly nextHopProtocol?: string
}

/** What was asked, status, version, bytes of the response. */
type Result = [string, number, string, number]

const world = await startSecured(t, {
  routes: [
    'GET /v1/trainings: trainings:list',
    'POST /v1/trainings: { permission: trainings:create, max_body: 4MiB }',
    'DELETE /v1/trainings/{id}: trainings:delete',
    'GET /v1/files/*: trainings:list',
    'GET /docs/*: public',
  ],
  answer: (request, response) => {
    if (request.url !== '/v1/files/stream') return void response.end('{"ok":true}')
    response.write(Buffer.alloc(STREAMED / 5))
    let parts = 1
    const timer = setInterval(() => {
      response.write(Buffer.alloc(STREAMED / 5))
      if (++parts < 5) return
      clearInterval(timer)
      response.end()
    }, 20)
  },
})
await world.seat('Clerk', ['s1'], ['trainings:list', 'trainings:create'])
const token = await world.token(['s1:Clerk'])
const base = `https://127.0.0.1:${world.securePort}`
const ca = join(world.folder, 'ca.pem')
writeFileSync(ca, authority.cert)
const upload = join(world.folder, 'upload')
writeFileSync(upload, Buffer.alloc(MIB, 'x'))
const CREDENTIAL = { authorization: `Bearer ${token}`, space: 's1' }

const ASKED = [
  { what: 'get', method: 'GET', path: '/v1/trainings', headers: CREDENTIAL },
  { what: 'upload', method: 'POST', path: '/v1/trainings', headers: CREDENTIAL, body: 'x'.repeat(MIB) },
  { what: '401', method: 'GET', path: '/v1/trainings', headers: {} },
  { what: '403', method: 'DELETE', path: '/v1/trainings/7', headers: CREDENTIAL },
  { what: 'stream', method: 'GET', path: '/v1/files/stream', headers: CREDENTIAL },
] as const
const EXPECTED: Readonly<Record<string, (status: number, bytes: number) => boolean>> = {
  get: (status, bytes) => status === 200 && bytes === 11,
  upload: (status, bytes) => status === 200 && bytes === 11,
  '401': (status) => status === 401,
  '403': (status) => status === 403,
  stream: (status, bytes) => status === 200 && bytes === STREAMED,
}

/** Compares the row with that of the manual. */
function report(t: Test, client: string, version: string, results: readonly Result[]): void {
  const cells = ASKED.map(({ what }) => {
    const [, status = 0, spoken = '', bytes = 0] = results.find(([asked]) => asked === what) ?? []
    const works = EXPECTED[what]?.(status, bytes) === true && spoken === version
    t.ok(works, `${client}, ${version}, ${what}: ${status} ${spoken} ${bytes} bytes`)
    return works ? 'works' : 'fails'
  })
  const row = `| ${client} | ${version} | ${cells.join(' | ')} |`
  t.ok(PAGE.includes(row), `docs/tls.md has the row ${row}`)
  const uploads = world.upstream.seen.splice(0).filter(({ method }) => method === 'POST')
  t.ok(uploads.length > 0 && uploads.every(({ body }) => body.length === MIB), 'whole uploads')
}

/** The output of a program; a string where it is missing. */
async function found(program: string, args: readonly string[]): Promise<boolean | string> {
  return run(program, [...args]).then(
    () => true,
    (cause: Error) => `${program} is not available: ${cause.message.split('\n').at(-2) ?? cause.message}`,
  )
}

async function results(program: string, args: readonly string[]): Promise<Result[]> {
  const { stdout } = await run(program, [...args], { timeout: 120_000 })
  return resultsIn(stdout)
}

function resultsIn(output: string): Result[] {
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const skipped = (reason: boolean | string) => (reason === true ? {} : { skip: String(reason) })
const PYTHON = '/usr/bin/python3'

for (const http2 of [false, true]) {
  const version = http2 ? 'HTTP/2' : 'HTTP/1.1'

  t.test(`curl, ${version}`, skipped(await found('curl', ['--version'])), async (t) => {
    const all: Result[] = []
    for (const { what, method, path, headers } of ASKED) {
      const args = ['-sS', '--cacert', ca, http2 ? '--http2' : '--http1.1', '-o', '/dev/null', '-X', method]
      for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
      if (what === 'upload') args.push('--data-binary', `@${upload}`)
      const { stdout } = await run('curl', [
        ...args,
        '-w',
        '%{http_code} %{http_version} %{size_download}',
        base + path,
      ])
      const [status, spoken, bytes] = stdout.split(' ')
      all.push([what, Number(status), `HTTP/${spoken}`, Number(bytes)])
    }
    report(t, 'curl', version, all)
  })

  t.test(`fetch of undici, ${version}`, async (t) => {
    const dispatcher = new Agent({ allowH2: http2, connect: { ca: authority.cert } })
    const all: Result[] = []
    for (const { what, method, path, headers, ...more } of ASKED) {
      const response = await fetch(base + path, { method, headers, dispatcher, ...more })
      // It does not tell the version: the listener offers both, and the dispatcher takes the one of `allowH2`.
      all.push([what, response.status, version, (await response.arrayBuffer()).byteLength])
    }
    await dispatcher.close()
    report(t, "Node.js' fetch (undici)", version, all)
  })

  t.test(`Go's net/http, ${version}`, skipped(await found('go', ['version'])), async (t) => {
    const binary = join(world.folder, 'client')
    await run('go', ['build', '-o', binary, fileOf('client.go')], {
      env: { ...process.env, GO111MODULE: 'off' },
    })
    const all = await results(binary, [JSON.stringify({ base, ca, token, http2 })])
    report(
      t,
      "Go's net/http",
      version,
      all.map(([a, b, c, d]) => [a, b, c === 'HTTP/2.0' ? 'HTTP/2' : c, d]),
    )
  })

  t.test(`httpx, ${version}`, skipped(await found(PYTHON, ['-c', 'import httpx, h2'])), async (t) => {
    const options = { library: 'httpx', base, ca, token, http2 }
    report(
      t,
      "Python's httpx",
      version,
      await results(PYTHON, [fileOf('client.py'), JSON.stringify(options)]),
    )
  })

  const hasChromium = await findProgram('chromium').then(() => true, String)
  t.test(`Chromium, ${version}`, skipped(hasChromium), async (t) => {
    const context = await startChromium(t)
    const page = await context.newPage()
    // With TLS it always takes HTTP/2 where it is offered.
    const origin = http2 ? base : `http://127.0.0.1:${world.port}`
    await page.goto(`${origin}/docs/page`)
    const all = await page.evaluate(async (asked) => {
      const all: [string, number, string, number][] = []
      for (const { what, method, path, headers, ...more } of asked) {
        const response = await fetch(path, { method, headers, ...more })
        const { byteLength } = await response.arrayBuffer()
        const last = performance.getEntriesByType('resource').at(-1) as BrowserEntry | undefined
        all.push([what, response.status, last?.nextHopProtocol ?? '', byteLength])
      }
      return all
    }, ASKED)
    report(
      t,
      'Chromium',
      version,
      all.map(([a, b, c, d]) => [a, b, c === 'h2' ? 'HTTP/2' : c.toUpperCase(), d]),
    )
  })
}

t.test("Node.js' own fetch (Node.js 24)", async (t) => {
  const asked = ASKED.map(({ what, method, path, headers }) => ({ what, method, path, headers }))
  const args = [fileOf('client.ts'), JSON.stringify({ base, asked, upload: MIB })]
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca }
  const { stdout } = await run(process.execPath, args, { env, timeout: 120_000 })
  report(t, "Node.js' own fetch (Node.js 24)", 'HTTP/1.1', resultsIn(stdout))
})

t.test('requests, HTTP/1.1', skipped(await found(PYTHON, ['-c', 'import requests'])), async (t) => {
  const options = { library: 'requests', base, ca, token, http2: false }
  report(
    t,
    "Python's requests",
    'HTTP/1.1',
    await results(PYTHON, [fileOf('client.py'), JSON.stringify(options)]),
  )
})

t.test('node:http2', async (t) => {
  const session = connect(base, { ca: authority.cert })
  t.teardown(() => session.destroy())
  const all: Result[] = []
  for (const { what, method, path, headers, ...more } of ASKED) {
    const stream = session.request(
      { ':method': method, ':path': path, ...headers },
      { endStream: !('body' in more) },
    )
    if ('body' in more) stream.end(more.body)
    const [head] = await once(stream, 'response')
    let bytes = 0
    for await (const chunk of stream) bytes += (chunk as Buffer).length
    all.push([what, Number(head[':status']), 'HTTP/2', bytes])
  }
  report(t, 'node:http2', 'HTTP/2', all)
})

t.test('curl --http2-prior-knowledge without TLS', skipped(await found('curl', ['--version'])), async (t) => {
  const args = ['-sS', '--http2-prior-knowledge', '-w', ' %{http_code} %{http_version}']
  const { stdout } = await run('curl', [...args, `http://127.0.0.1:${world.port}/docs/a`])
  t.match(stdout, /prior knowledge.*\n 400 2$/)
})
