/**
 * A target in a process of its own, which tests kill. It responds after a moment, and first records each request in a
 * file, so that no request is lost with it.
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
