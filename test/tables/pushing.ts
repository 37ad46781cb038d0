/** A gateway whose tables are in its store, and its administrator. */

import type { Test } from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { bootstrapIn } from '../support/bootstrapped-store.ts'
import { type Answer, Client } from '../support/client.ts'
import { GatewayProcess, type GatewayProcessOptions } from '../support/gateway-process.ts'
import { startUpstream } from '../support/world.ts'

export type TableFiles = Readonly<Record<string, string>>

export function tableOf(requirement: string, path = '/gate'): string {
  return `upstream: main\nroutes:\n  GET ${path}: ${requirement}\n`
}

/** Sends requests about tables, with the tag that it has seen last. */
export class Pusher {
  readonly #client: Client
  readonly #key: string
  /** The ETag of the version that this one has read or pushed; ''; none yet. */
  tag = ''

  constructor(port: number, key: string) {
    this.#client = new Client(port)
    this.#key = key
  }

  send(
    method: string,
    path: string,
    body?: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = { 'x-api-key': this.#key, space: 'admin', ...type, ...more }
    return this.#client.send(method, path, headers, body === undefined ? undefined : JSON.stringify(body))
  }

  async read(query = ''): Promise<Answer> {
    return this.#seen(await this.send('GET', `/v1/tables${query}`))
  }

  /** On the version that it has seen last. */
  async push(files: TableFiles): Promise<Answer> {
    if (this.tag === '') await this.read()
    return this.#seen(await this.send('PUT', '/v1/tables', { files }, { 'if-match': this.tag }))
  }

  close(): void {
    this.#client.close()
  }

  #seen(answer: Answer): Answer {
    if (answer.status === 200) this.tag = answer.headers.etag ?? ''
    return answer
  }
}

/** The gateway has a store in a file. */
export async function startPushed(t: Test, options: GatewayProcessOptions = {}) {
  const upstream = await startUpstream(t)
  const gateway = new GatewayProcess(t, { target: upstream.url, tablesFrom: 'store', ...options })
  const store = await openStore({ kind: 'sqlite', path: `${gateway.folder}/seatgate.db` })
  const key = await bootstrapIn(store, 'acme')
  await store.close()
  await gateway.start()
  await gateway.listens()
  const pusher = new Pusher(gateway.port, key)
  t.teardown(() => pusher.close())
  return { gateway, pusher, key, upstream }
}
