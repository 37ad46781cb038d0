/** What `tables push` says of refusals that name instances, and of pushes whose result is not known. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { listen } from '../../support/listen.ts'
import { tableOf } from '../../tables/pushing.ts'
import { afar } from '../remote/from-afar.ts'

const ACTIVE = { version: 4, hash: '3f2a8c01d9e4', entries: 1, created_at: null, created_by: null, files: {} }
const FLEET = {
  data: [
    { id: 'id-a', name: 'gate-a 31' },
    { id: 'id-b', name: 'gate-b 7' },
  ],
  changes: [],
}

function problem(response: ServerResponse, status: number, code: string, more: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/problem+json', 'x-request-id': 'r1' })
  response.end(JSON.stringify({ code, title: code, detail: `It is ${code}.`, request_id: 'r1', ...more }))
}

/** Another program in place of a gateway, for answers that a gateway gives only in the middle of a fault. */
async function answering(t: Test, push: (request: IncomingMessage, response: ServerResponse) => void) {
  const tags: unknown[] = []
  const server = createServer((request, response) => {
    const { method, url = '' } = request
    const json = (body: unknown) => {
      response.writeHead(200, { 'content-type': 'application/json', etag: '"4-abc"' })
      response.end(JSON.stringify(body))
    }
    request.resume().on('end', () => {
      if (url.startsWith('/auth/')) return json({ admin_space: 'admin' })
      if (url.startsWith('/v1/fleet')) return json(FLEET)
      if (url === '/v1/tables/plan') return json({ equal: true, hash: '0', changes: [] })
      if (method === 'GET') return json({ ...ACTIVE, versions: [], has_more: false })
      tags.push(request.headers['if-match'])
      push(request, response)
    })
  })
  const { run } = afar(t, { port: await listen(t, server) }, 'k', { 'routes/a.yaml': tableOf('public') })
  return { tags, push: () => run(['tables', 'push', 'routes', '--yes']) }
}

t.test('the faults of instances, by their names', async (t) => {
  const fault = { file: 'a.yaml', line: 1, column: 11, message: 'there is no upstream "main"' }
  const faults = [
    { instance: 'id-a', ...fault },
    { instance: 'id-b', ...fault },
    {
      instance: 'id-c',
      file: '',
      line: 0,
      column: 0,
      message: 'the instance has not said in time that it is ready',
    },
  ]
  const { push, tags } = await answering(t, (_, response) =>
    problem(response, 409, 'tables_refused', { faults }),
  )
  const { code, err } = await push()
  t.equal(code, 1)
  t.equal(
    err,
    `routes/a.yaml:1:11: there is no upstream "main" (at gate-a 31, gate-b 7)
the instance has not said in time that it is ready (at id-c)
seatgate tables push: nothing was changed: 2 faults (409 tables_refused, request r1)
`,
  )
  t.same(tags, ['"4-abc"'], 'it is pushed on the version that was planned on')
})

t.test('a push whose result is not known', async (t) => {
  const LOOK =
    /The tables may be active: seatgate tables history --limit 1 shows the active\s+version\. Repeating the push is harmless\.\n$/
  const unavailable = await answering(t, (_, response) => problem(response, 503, 'unavailable'))
  t.match(await unavailable.push(), { code: 1, err: LOOK })
  t.equal(unavailable.tags.length, 1, 'it is not repeated')
  const broken = await answering(t, (request) => request.socket.destroy())
  t.match(await broken.push(), { code: 1, err: LOOK })
  t.equal(broken.tags.length, 1)
})

t.test('other refusals are as they come', async (t) => {
  const elsewhere = await answering(t, (_, response) => problem(response, 409, 'tables_in_files'))
  const { code, err } = await elsewhere.push()
  t.equal(code, 1)
  t.equal(err, 'seatgate tables push: It is tables_in_files. (409 tables_in_files, request r1)\n')
})
