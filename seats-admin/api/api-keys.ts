/** `/v1/api-keys`. Only the response to POST contains the key's text. */

import { isRefusal } from '../model/refusal.ts'
import { type AdminDeps, type AdminEndpoint, respondToWrite, noContent, writerOf } from './endpoint.ts'
import { readApiKeyInput } from './input.ts'
import { readPage } from './page.ts'
import { apiKey, createdApiKey, listing } from './views.ts'

export function apiKeyEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    {
      method: 'POST',
      path: '/v1/api-keys',
      permission: 'api-keys:create',
      async handle({ body, caller }) {
        const writer = writerOf(caller, deps)
        const input = readApiKeyInput(body, writer.now)
        if (isRefusal(input)) return input
        const write = deps.store.createApiKey(writer, input)
        return respondToWrite(write, deps, (made) => ({ status: 200, body: createdApiKey(made) }))
      },
    },
    {
      method: 'GET',
      path: '/v1/api-keys',
      permission: 'api-keys:list',
      async handle({ query, caller: { tenant, scope } }) {
        const page = readPage(query)
        if (isRefusal(page)) return page
        const found = await deps.store.listApiKeys(tenant, { ...page, scope })
        return { status: 200, body: listing(found, apiKey) }
      },
    },
    {
      method: 'GET',
      path: '/v1/api-keys/{id}',
      permission: 'api-keys:read',
      async handle({ params, caller: { tenant, scope } }) {
        const found = await deps.store.readApiKey(tenant, params.id ?? '', scope)
        return isRefusal(found) ? found : { status: 200, body: apiKey(found) }
      },
    },
    {
      method: 'DELETE',
      path: '/v1/api-keys/{id}',
      permission: 'api-keys:delete',
      async handle({ params, caller }) {
        return respondToWrite(
          deps.store.revokeApiKey(writerOf(caller, deps), params.id ?? ''),
          deps,
          noContent,
        )
      },
    },
  ]
}
