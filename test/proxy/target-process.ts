/**
 * A target in a process of its own, to be killed: answers after a moment, and notes each request in a file before it
 * does, so that nothing it was asked is forgotten with it.
 */

import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const [, , file = '', port = '0'] = process.argv

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    appendFileSync(file, `${request.method} ${request.url}\n`)
    setTimeout(() => response.end('ok'), 5)
  })
})
server.listen(Number(port), '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
