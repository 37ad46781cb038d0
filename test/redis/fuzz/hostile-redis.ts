/**
 * A server on loopback that is a Redis, a sentinel and a cluster node, and can replace any correct reply. It stores values
 * and delivers messages, so that its clients reach all their commands.
 */

import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Test } from 'tap'
import { type Reply, ReplyReader } from '../../../src/redis/resp.ts'
import { listen } from '../../support/listen.ts'
import { CERTIFICATES } from '../../support/servers/tls.ts'
import { array, bulk } from './replies.ts'

/** @returns the reply to send instead; null: the correct one */
export type ReplaceReply = (command: string, correct: Buffer) => Buffer | null

export class HostileRedis {
  readonly port: number
  replaceReply: ReplaceReply = () => null
  /** Number of replaced replies. */
  hostile = 0
  /** Command → number of correct replies. */
  readonly answered = new Map<string, number>()
  readonly #sockets = new Set<Socket>()
  readonly #values = new Map<string, string>()
  readonly #subscribers = new Map<Socket, Set<string>>()

  private constructor(port: number) {
    this.port = port
  }

  static async start(t: Test, tls = false): Promise<HostileRedis> {
    const server = tls ? createTlsServer(CERTIFICATES.server) : createServer()
    const redis = new HostileRedis(await listen(t, server))
    server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => redis.#join(socket))
    return redis
  }

  /** Closes all connections. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #join(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.#subscribers.delete(socket)
    })
    const reader = new ReplyReader()
    socket.on('data', (bytes: Buffer) =>
      reader.write(bytes, (command) => this.#answer(socket, wordsOf(command))),
    )
  }

  #answer(socket: Socket, words: readonly string[]): void {
    const name = (words[0] ?? '').toLowerCase()
    const correct = Buffer.from(this.#correct(socket, name, words.slice(1)), 'latin1')
    const replacement = this.replaceReply(name, correct)
    if (replacement === null) this.answered.set(name, (this.answered.get(name) ?? 0) + 1)
    else this.hostile++
    socket.write(replacement ?? correct)
  }

  #correct(socket: Socket, name: string, words: readonly string[]): string {
    const [first = '', second = ''] = words
    if (name === 'get') return bulk(this.#values.get(first))
    if (name === 'set') this.#values.set(first, second)
    if (name === 'publish') return `:${this.#publish(first, second)}\r\n`
    if (name === 'subscribe') return this.#subscribe(socket, words)
    if (name === 'ping') return this.#subscribers.has(socket) ? array(bulk('pong'), bulk('')) : '+PONG\r\n'
    if (name === 'info') return bulk('role:master\r\nloading:0\r\n')
    if (name === 'sentinel') return array(bulk('127.0.0.1'), bulk(String(this.port)))
    if (name === 'cluster' && first.toLowerCase() === 'info') return bulk('cluster_state:ok\r\n')
    if (name === 'cluster') {
      const node = array(bulk('127.0.0.1'), `:${this.port}\r\n`, bulk('id'), '*0\r\n')
      return array(array(':0\r\n', ':16383\r\n', node))
    }
    return '+OK\r\n'
  }

  #publish(channel: string, message: string): number {
    const receivers = [...this.#subscribers].filter(([, channels]) => channels.has(channel))
    const bytes = Buffer.from(array(bulk('message'), bulk(channel), bulk(message)), 'latin1')
    for (const [socket] of receivers) socket.write(this.replaceReply('message', bytes) ?? bytes)
    return receivers.length
  }

  #subscribe(socket: Socket, channels: readonly string[]): string {
    const all = this.#subscribers.get(socket) ?? new Set()
    this.#subscribers.set(socket, all)
    return channels
      .map((channel) => array(bulk('subscribe'), bulk(channel), `:${all.add(channel).size}\r\n`))
      .join('')
  }
}

/** @param command an array of bulk strings */
function wordsOf(command: Reply): string[] {
  if (command.type !== 'array') throw new Error(`not a command: ${JSON.stringify(command)}`)
  return (command.items ?? []).map((item) =>
    item.type === 'bulk' ? (item.bytes?.toString('latin1') ?? '') : '',
  )
}
