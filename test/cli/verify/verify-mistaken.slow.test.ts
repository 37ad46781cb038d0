/** `seatgate verify` with addresses that are not what they seem: of other stores, or of programs that send a write twice or lose an answer. */

import {
  createServer,
  type IncomingMessage,
  request as send,
  type Server,
  type ServerResponse,
} from 'node:http'
import t, { type Test } from 'tap'
import { listen } from '../../support/listen.ts'
import { until } from '../../support/until.ts'
import { outcomeOf, SECRET } from '../command-line.ts'
import type { RunRecord } from '../../../src/cli/verify/run-record.ts'
import { verifyOutput } from '../../../src/cli/verify/verify-report.ts'
import { startGate, SPACE } from './gate.ts'
import { hasMade, type RunHere, verifyHere } from './verify-here.ts'

const [gate, other] = await Promise.all([startGate(t), startGate(t)])
const before = await gate.names()

type Forward = (target: string) => Promise<{ status: number; type: string; id: string; body: Buffer }>

/** A proxy of this test. @param decide answers with what a gateway has answered */
async function proxy(
  t: Test,
  decide: (request: IncomingMessage, forward: Forward) => ReturnType<Forward>,
): Promise<string> {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { status, type, id, body } = await decide(request, (target) => pass(target, request, chunks))
    response
      .writeHead(status, { 'content-type': type, 'x-request-id': id })
      .end(status === 204 ? undefined : body)
  }
  const server: Server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  )
  return `http://127.0.0.1:${await listen(t, server)}`
}

function pass(target: string, { method, url, headers }: IncomingMessage, chunks: readonly Buffer[]) {
  return new Promise<Awaited<ReturnType<Forward>>>((resolve, reject) => {
    const sent = send(`${target}${url}`, { method, headers }, (answer) => {
      const body: Buffer[] = []
      answer.on('data', (chunk: Buffer) => body.push(chunk))
      answer.on('error', reject)
      const { statusCode: status = 0, headers: fields } = answer
      const [type, id] = [
        String(fields['content-type'] ?? 'text/plain'),
        String(fields['x-request-id'] ?? ''),
      ]
      answer.on('end', () => resolve({ status, type, id, body: Buffer.concat(body) }))
    })
    sent.on('error', reject).end(Buffer.concat(chunks))
  })
}

/** Ends as soon as the run has shown what the test waits for. */
function verifyThrough(url: string, isDone: RunHere['isDone'], settings: Partial<RunHere> = {}) {
  return verifyHere({ urls: [url], key: gate.key, space: SPACE, streams: false, isDone, ...settings })
}

// Each run makes objects of its own.
t.test('runs at the same time', async (t) => {
  t.jobs = 5

  t.test('two addresses with different stores: it says which one does not know the key', async (t) => {
    const addresses = ['--url', gate.gateway.origin, '--url', other.gateway.origin]
    const { code, out, err } = await gate.run('--duration', '10m', ...addresses)
    t.match({ code, out }, { code: 1, out: '' })
    t.match(err, `${other.gateway.origin}: The API key is unknown.`)
    t.match(err, /lead to gateways with another store/)
  })

  t.test('a load balancer that sends some reads to another fleet', async (t) => {
    let reads = 0
    let refused = 0
    const url = await proxy(t, async (request, forward) => {
      const astray = request.url === '/v1/canary' && ++reads % 3 === 0
      const answer = await forward((astray ? other : gate).gateway.origin)
      if (astray && answer.status === 401) refused++
      return answer
    })
    const limits = ['--duration', '10m', '--timeout', '10m']
    const child = gate.start(...limits, '--no-streams', '--url', url)
    const ran = outcomeOf(child)
    // A reader judges a read before it sends the next one. Four may be in flight, and four may be of a cycle that has ended.
    await until(() => refused > 8, 'reads that are refused', { patience: 60_000 })
    child.kill('SIGINT')
    const { code, out } = await ran
    t.equal(code, 3)
    t.match(out, /answered\s+api_key_invalid[^]*the\s+credential\s+is\s+unknown\s+there[^]*another\s+store/)
  })

  t.test('a cache: it says that one answer came many times', async (t) => {
    const stored = new Map<string, Awaited<ReturnType<Forward>>>()
    const url = await proxy(t, async (request, forward) => {
      if (request.url !== '/v1/canary') return forward(gate.gateway.origin)
      // As a cache does that looks at the path and the credential alone.
      const key = JSON.stringify([request.headers['x-api-key'], request.headers.authorization])
      const answer = stored.get(key) ?? (await forward(gate.gateway.origin))
      stored.set(key, answer)
      return answer
    })
    const isDone = (record: RunRecord) => record.violations > 2
    const { report } = await verifyThrough(url, isDone)
    t.ok(report.repeated_answers > 2)
    const whole = { run: 'r', result: 'violations', why: null, ...report, left: [], revoked: [] } as const
    t.match(verifyOutput('text', whole), /one answer many times: \d+ reads[^]*A\s+cache\s+is\s+in\s+between/)
  })

  t.test('a load balancer that sends a write twice', async (t) => {
    let posts = 0
    const url = await proxy(t, async (request, forward) => {
      const first = await forward(gate.gateway.origin)
      const twice = request.method === 'POST' && request.url === '/v1/seats' && ++posts % 2 === 0
      return twice ? forward(gate.gateway.origin) : first
    })
    // The third one is of the next cycle.
    const { report, left } = await verifyThrough(url, () => posts >= 3)
    t.same(report.violations, [])
    t.equal(report.repeated_answers, 0)
    t.same(left, [])
    t.ok(posts >= 3, 'the next cycle begins')
  })

  t.test(
    'a write of unknown outcome, and a list that is refused at first: what it made is deleted all the same',
    async (t) => {
      let made = false
      let lists = 0
      const url = await proxy(t, async (request, forward) => {
        const isList =
          request.method === 'GET' && /^\/v1\/(?:seats|api-keys|blocks)\?limit=100/.test(request.url ?? '')
        if (isList && lists++ === 0) throw new Error('the first list has no answer')
        const answer = await forward(gate.gateway.origin)
        if (request.method !== 'POST' || request.url !== '/v1/api-keys' || made) return answer
        made = true
        throw new Error('the answer is lost')
      })
      const { report, left } = await verifyThrough(url, (record) => hasMade(record, 'grant'))
      t.match(report, { unanswered: { UND_ERR_SOCKET: 1 }, operations: { grant: 1 } })
      t.same(left, [])
      t.ok(lists > 1)
    },
  )

  t.test('a block of unknown outcome: the next cycle does not take its user for unblocked', async (t) => {
    let blocks = 0
    const url = await proxy(t, async (request, forward) => {
      const answer = await forward(gate.gateway.origin)
      if (request.method === 'POST' && request.url === '/v1/blocks' && blocks++ === 0)
        throw new Error('the answer is lost')
      return answer
    })
    const { report, left } = await verifyThrough(url, (record) => hasMade(record, 'unblock'), {
      tokenSecret: new TextEncoder().encode(SECRET),
    })
    t.match(report, { unanswered: { UND_ERR_SOCKET: 1 }, operations: { unblock: 1 } })
    t.same(report.violations, [])
    t.same(left, [])
  })
})

t.test('all of them have deleted what they made', async (t) => {
  t.same(await gate.names(), before)
  t.same((await gate.admin('GET', '/v1/blocks')).json.data, [])
})
