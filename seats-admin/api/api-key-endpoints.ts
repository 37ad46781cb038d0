/** `/v1/api-keys`. Only the response to POST contains the key's text. */

import { apiKeyTag } from '../model/entity-tag.ts'
import { text } from '../model/json-schema.ts'
import { isRefusal } from '../model/refusal.ts'
import { warningsAfter } from './administration-warning.ts'
import {
  type AdminDeps,
  type AdminEndpoint,
  endpoint,
  noContent,
  respondToWrite,
  tagged,
  writerOf,
} from './admin-endpoint.ts'
import { apiKeyBody, apiKeyInput } from './body-input.ts'
import { PAGE, pageOf } from './page-parameters.ts'
import { ID } from './parameters.ts'
import { apiKey, createdApiKey, listing } from './views.ts'
import { withWarnings } from './warnings.ts'

const params = { id: text('The id of the API key.', ID) }
const apiKeys = listing(apiKey)

export function apiKeyEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/api-keys',
      permission: 'api-keys:create',
      operation: 'createApiKey',
      summary: 'Creates an API key and returns its text.',
      body: apiKeyBody,
      answers: { 200: createdApiKey.schema },
      tagged: true,
      codes: ['grant_exceeds_own'],
      async handle({ body, caller }) {
        const writer = writerOf(caller, deps)
        const input = apiKeyInput(body, writer.now)
        if (isRefusal(input)) return input
        const write = deps.store.createApiKey(writer, input)
        return respondToWrite(write, deps, async (made, written) => {
          const body = withWarnings(createdApiKey(made), await warningsAfter(caller, deps, written))
          return tagged(apiKeyTag(made), body)
        })
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/api-keys',
      permission: 'api-keys:list',
      operation: 'listApiKeys',
      summary: 'Lists the API keys that the caller may see, including revoked ones.',
      query: PAGE,
      answers: { 200: apiKeys.schema },
      codes: [],
      async handle({ query, caller: { tenant, scope } }) {
        const found = await deps.store.listApiKeys(tenant, { ...pageOf(query), scope })
        return { status: 200, body: apiKeys(found) }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/api-keys/{id}',
      permission: 'api-keys:read',
      operation: 'readApiKey',
      summary: 'Reads an API key.',
      params,
      answers: { 200: apiKey.schema },
      tagged: true,
      codes: ['api_key_not_found'],
      async handle({ params: { id }, caller: { tenant, scope } }) {
        const found = await deps.store.readApiKey(tenant, id, scope)
        return isRefusal(found) ? found : tagged(apiKeyTag(found), apiKey(found))
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/v1/api-keys/{id}',
      permission: 'api-keys:delete',
      operation: 'revokeApiKey',
      summary: 'Revokes an API key.',
      params,
      answers: { 204: null },
      conditional: true,
      codes: ['grant_exceeds_own', 'api_key_not_found'],
      async handle({ params: { id }, ifMatch, caller }) {
        const write = deps.store.revokeApiKey(writerOf(caller, deps, ifMatch), id)
        return respondToWrite(write, deps, noContent)
      },
    }),
  ]
}
