/**
 * Calls between the primary and a worker over the IPC channel of node:cluster: each call has one response.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { RENEWAL } from '../../coherence/worker-link.ts'

export interface Port {
  send(message: unknown): void
  onMessage(receive: (message: unknown) => void): void
}

type Message =
  | { readonly method: string; readonly argument: unknown; readonly id: number | null }
  | { readonly answer: number; readonly value: unknown; readonly failed: string | null }

/** The other process has ended, so it executes nothing any more. */
export class ProcessEnded extends Error {
  constructor() {
    super('the process has ended')
    this.name = 'ProcessEnded'
  }
}

export class Channel {
  readonly #port: Port
  readonly #handlers = new Map<string, (argument: unknown) => unknown>()
  readonly #pending = new Map<number, Omit<PromiseWithResolvers<unknown>, 'promise'>>()
  #calls = 0
  #ended = false

  constructor(port: Port) {
    this.#port = port
    port.onMessage((message) => this.#receive(message))
  }

  /** Registers the handler of a method. Its value or rejection is the response. */
  serve(method: string, handler: (argument: unknown) => unknown): void {
    this.#handlers.set(method, handler)
  }

  /** Rejects as the other end does, or with {@link ProcessEnded}. */
  call(method: string, argument?: unknown): Promise<unknown> {
    if (this.#ended) return Promise.reject(new ProcessEnded())
    const id = ++this.#calls
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.#port.send({ method, argument, id } satisfies Message)
    })
  }

  /** {@link call}, which also rejects when the other process does not respond in time: it may be frozen. */
  ask(method: string, argument?: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the other process does not respond')), RENEWAL)
      this.call(method, argument)
        .finally(() => clearTimeout(timer))
        .then(resolve, reject)
    })
  }

  notify(method: string, argument?: unknown): void {
    if (!this.#ended) this.#port.send({ method, argument, id: null } satisfies Message)
  }

  /**
   * Call it only after the other process has ended: until then it may still be executing calls. What arrives
   * after that is dropped: a `joins` would bring the process back among those that every reload waits for.
   */
  end(): void {
    this.#ended = true
    for (const { reject } of this.#pending.values()) reject(new ProcessEnded())
    this.#pending.clear()
  }

  #receive(data: unknown): void {
    if (this.#ended) return
    const message = data as Message
    if ('answer' in message) return this.#settle(message)
    if (!('method' in message)) return
    const answer = (value: unknown, failed: string | null) => {
      if (message.id !== null) this.#port.send({ answer: message.id, value, failed } satisfies Message)
    }
    this.#handle(message.method, message.argument).then(
      (value) => answer(value, null),
      (cause: unknown) => answer(null, cause instanceof Error ? cause.message : String(cause)),
    )
  }

  async #handle(method: string, argument: unknown): Promise<unknown> {
    const handler = this.#handlers.get(method)
    if (handler === undefined) throw new Error(`no handler for ${method}`)
    return handler(argument)
  }

  #settle({ answer, value, failed }: Extract<Message, { answer: number }>): void {
    const pending = this.#pending.get(answer)
    this.#pending.delete(answer)
    if (failed === null) pending?.resolve(value)
    else pending?.reject(new Error(failed))
  }
}

/** Resolves with undefined after `ms` if the work takes longer: the other process may be frozen. */
export function within<V>(ms: number, work: Promise<V>): Promise<V | undefined> {
  return Promise.race([work, sleep(ms, undefined, { ref: false })])
}
