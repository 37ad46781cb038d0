/** A proxy with @fastify/http-proxy, as in its readme, with fastify's own log. */

import { readFileSync } from 'node:fs'
import httpProxy from '@fastify/http-proxy'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { line, openAccessLog, readSetup } from './setup.ts'
import { type Verdict, Verifier } from './verify.ts'

const setup = readSetup()
const log = openAccessLog(setup)
const verifier = setup.rules === null ? null : new Verifier(setup.rules)
const server = fastify({ keepAliveTimeout: 75_000, bodyLimit: 10 * 1024 * 1024 })

server.addHook('onResponse', (request, reply, done) => {
  log.info(line(request.raw, reply.statusCode, performance.now() - reply.elapsedTime))
  done()
})
await server.register(httpProxy, {
  upstream: setup.upstream,
  undici: {
    connections: 256,
    pipelining: 1,
    ...(setup.ca === null ? {} : { connect: { ca: readFileSync(setup.ca) } }),
  },
  ...(verifier === null ? {} : { preHandler: (request, reply) => admit(verifier, request, reply) }),
})
await server.listen({ host: '127.0.0.1', port: setup.port, backlog: 4096 })

async function admit(verifier: Verifier, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const verdict: Verdict = await verifier.check(request.headers.authorization)
  if (verdict.status !== 200) return void (await reply.code(verdict.status).send())
  delete request.headers.authorization
  request.headers['x-user'] = verdict.user
}
