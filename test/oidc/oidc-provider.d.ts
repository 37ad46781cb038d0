/** The part of oidc-provider that the tests and the demo use. The package ships no types. */

declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    /** Whether it reads X-Forwarded-Proto. */
    proxy: boolean
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    /** Rejects where the browser has no such interaction. */
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<unknown>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { readonly login: { readonly accountId: string } },
    ): Promise<void>
  }
}

declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  export default class MemoryAdapter {
    constructor(model: string, storage: Map<string, unknown>)
  }
}
