/**
 * A service in a process of its own, to be killed: it records each POST before it answers. Prints its port.
 * `node target-process.ts FILE`
 */

import { openSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const notes = openSync(process.argv[2] ?? '', 'a')
const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    if (request.method === 'POST') writeSync(notes, `${body}\n`)
    setTimeout(() => response.end(body === '' ? 'ok' : body), 5)
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
