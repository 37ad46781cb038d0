/** Sends small JSON, as the upstream does. */

import { createServer } from 'node:http'
import { SMALL } from '../answers.ts'
import { readSetup } from './setup.ts'

const { port } = readSetup()
const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  request.resume()
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(SMALL.length)])
  response.end(SMALL)
})
server.listen({ host: '127.0.0.1', port, backlog: 4096 })
