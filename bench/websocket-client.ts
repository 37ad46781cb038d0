/**
 * Opens WebSockets, and sends a short message on each as soon as the last one is echoed. Prints one line of
 * JSON.
 */

import type { WebSocketLoad } from './load-settings.ts'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

const SIZE = 64
/** The bytes of a frame of the upstream, which is not masked. */
const ECHO = 2 + SIZE

const load = JSON.parse(readFileSync(0, 'utf8')) as WebSocketLoad
const message = Buffer.concat([Buffer.from([0x82, 0x80 | SIZE]), randomBytes(4), randomBytes(SIZE)])

let messages = 0
let ended = false
const sockets: Socket[] = []
for (let i = 0; i < load.connections; i++) sockets.push(await open())
const begun = performance.now()
for (const socket of sockets) talk(socket)
setTimeout(finish, load.seconds * 1000)

async function open(): Promise<Socket> {
  const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true })
  const key = randomBytes(16).toString('base64')
  const lines = [
    `Host: 127.0.0.1:${load.port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
  ]
  const head = [`GET ${load.path} HTTP/1.1`, ...lines, `Sec-WebSocket-Key: ${key}`, ...load.headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  let answer = ''
  while (!answer.includes('\r\n\r\n')) answer += (await once(socket, 'data'))[0]
  if (!answer.startsWith('HTTP/1.1 101 ')) throw new Error(answer.split('\r\n', 1)[0])
  return socket
}

function talk(socket: Socket): void {
  let come = 0
  socket.on('close', () => {
    if (!ended) throw new Error('a WebSocket was closed')
  })
  socket.on('data', ({ length }: Buffer) => {
    come += length
    if (come < ECHO) return
    come -= ECHO
    messages++
    socket.write(message)
  })
  socket.write(message)
}

function finish(): void {
  ended = true
  const seconds = (performance.now() - begun) / 1000
  for (const socket of sockets) socket.destroy()
  process.stdout.write(`${JSON.stringify({ messages, rate: messages / seconds })}\n`)
}
