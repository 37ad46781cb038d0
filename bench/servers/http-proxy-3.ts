/** A proxy with http-proxy-3, as in its readme, with keep-alive connections. */

import { readFileSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import { createProxyServer } from 'http-proxy-3'
import { line, openAccessLog, readSetup } from './setup.ts'
import { type Verdict, Verifier } from './verify.ts'

const setup = readSetup()
const log = openAccessLog(setup)
const verifier = setup.rules === null ? null : new Verifier(setup.rules)
const keep = { keepAlive: true, maxSockets: 256 }
const agent =
  setup.ca === null ? new http.Agent(keep) : new https.Agent({ ...keep, ca: readFileSync(setup.ca) })
const proxy = createProxyServer({ target: setup.upstream, agent, xfwd: true })
proxy.on('error', (_error, _request, response) => {
  if (response instanceof http.ServerResponse) response.writeHead(502).end()
})

const server = http.createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  const begun = performance.now()
  response.once('close', () => log.info(line(request, response.statusCode, begun)))
  if (verifier === null) return void proxy.web(request, response)
  const verdict = verifier.check(request.headers.authorization)
  if (verdict instanceof Promise) void verdict.then((result) => admit(request, response, result))
  else admit(request, response, verdict)
})
server.listen({ host: '127.0.0.1', port: setup.port, backlog: 4096 })

function admit(request: http.IncomingMessage, response: http.ServerResponse, verdict: Verdict): void {
  if (verdict.status !== 200) return void response.writeHead(verdict.status, { 'Content-Length': '0' }).end()
  delete request.headers.authorization
  request.headers['x-user'] = verdict.user
  void proxy.web(request, response)
}
