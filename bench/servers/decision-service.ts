/**
 * A decision service: 200 with the user's name, 401 or 403, as a team may use it for nginx's auth_request or
 * Caddy's forward_auth. It writes no log, because the server in front does.
 */

import { createServer, type ServerResponse } from 'node:http'
import { readSetup } from './setup.ts'
import { type Verdict, Verifier } from './verify.ts'

const { port, rules } = readSetup()
if (rules === null) throw new Error('no rules')
const verifier = new Verifier(rules)

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const verdict = verifier.check(request.headers.authorization)
  if (verdict instanceof Promise) void verdict.then((result) => answer(response, result))
  else answer(response, verdict)
})
server.listen({ host: '127.0.0.1', port, backlog: 4096 })

function answer(response: ServerResponse, { status, user }: Verdict): void {
  response.writeHead(
    status,
    status === 200 ? ['X-User', user, 'Content-Length', '0'] : ['Content-Length', '0'],
  )
  response.end()
}
