/** The names of authors: endpoints give the `sub` of a user or the id of an API key. */

import { isUlid } from '../../../seats-admin/model/ulid.ts'
import type { ApiKeyView } from './endpoint-answers.ts'
import type { Gateway } from './gateway-client.ts'
import { GatewayRefusal } from './problem-text.ts'

export class AuthorNames {
  readonly #gateway: Gateway
  /** The names by id; the id itself if the name is unknown. */
  readonly #names = new Map<string, string>()
  #mayRead = true

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** The name of an API key if the caller may read it (`api-keys:read`), or else the id. */
  async nameOf(id: string): Promise<string> {
    if (!isUlid(id)) return id
    const cached = this.#names.get(id)
    if (cached !== undefined) return cached
    const name = await this.#read(id)
    this.#names.set(id, name)
    return name
  }

  async #read(id: string): Promise<string> {
    if (!this.#mayRead) return id
    try {
      return (await this.#gateway.get<ApiKeyView>(`/v1/api-keys/${id}`)).name
    } catch (cause) {
      // The list is printed without the name.
      if (!(cause instanceof GatewayRefusal)) throw cause
      if (cause.problem.code === 'permission_denied') this.#mayRead = false
      return id
    }
  }
}
