/** `/v1/api-keys`. Only the response to POST contains the key's text. */

import { apiKeyTag } from '../model/entity-tag.ts'
import { list, orNull, strictObject, text, textItem, type ValueOf } from '../model/json-schema.ts'
import { type AdminRefusal, inputInvalid, isRefusal } from '../model/refusal.ts'
import type { ApiKeyInput } from '../store/store.ts'
import {
  type AdminDeps,
  type AdminEndpoint,
  endpoint,
  noContent,
  respondToWrite,
  tagged,
  writerOf,
} from './admin-endpoint.ts'
import { parseDateTime } from './date-time.ts'
import { ID, PAGE, pageOf, someText, SUB } from './parameters.ts'
import { checker } from './validate-body.ts'
import { apiKey, createdApiKey, listing } from './views.ts'
import { warned } from './warnings.ts'

/** Every request with the key looks up each of its Seats. */
const MAX_SEATS_OF_KEY = 1000

const apiKeySchema = strictObject(
  {
    name: text('It does not have to be unique.', { format: 'name', examples: ['nightly export'] }),
    seats: list(textItem({ format: 'name', examples: ['Viewer'] }), 'Names of existing Seats.', {
      maxItems: MAX_SEATS_OF_KEY,
    }),
  },
  {
    expires_at: orNull(
      text('When the key expires. If it is absent or null, the key never expires.', {
        format: 'expiry',
        examples: ['2099-01-01T00:00:00Z'],
      }),
    ),
    owner: orNull(
      text(
        'The `sub` of the user who owns the key: it is refused while the user is blocked, and a revocation of the user revokes it. If it is absent or null, the key has no owner.',
        SUB,
      ),
    ),
  },
)

export const apiKeyBody = checker(apiKeySchema)

const LIST = {
  ...PAGE,
  owner: someText('The `sub` of an owner; by default, all keys.', 'must be the sub of a user'),
}

const params = { id: text('The id of the API key.', ID) }
const apiKeys = listing(apiKey)

export function apiKeyEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [createApiKey, listApiKeys, readApiKey, revokeApiKey].map((each) => each(deps))
}

function createApiKey(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'POST',
    path: '/v1/api-keys',
    permission: 'api-keys:create',
    operation: 'createApiKey',
    summary: 'Creates an API key and returns its text.',
    details:
      'The text of the key is in this answer alone: the gateway stores its hash. The key grants what its Seats grant now. If the caller holds their permissions by a grant, the key must expire no later than that.',
    body: apiKeyBody,
    answers: { 200: createdApiKey.schema },
    tagged: true,
    codes: ['grant_exceeds_own'],
    lastsUntil: ({ expires_at: end = null }) => (end === null ? Infinity : (parseDateTime(end) ?? Infinity)),
    async handle({ body, caller }) {
      const writer = writerOf(caller, deps)
      const input = apiKeyInput(body, writer.now)
      if (isRefusal(input)) return input
      const write = deps.store.createApiKey(writer, input)
      return respondToWrite(write, deps, async (made, written) =>
        tagged(apiKeyTag(made), await warned(createdApiKey(made), caller, deps, written)),
      )
    },
  })
}

function listApiKeys(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/api-keys',
    permission: 'api-keys:list',
    operation: 'listApiKeys',
    summary: 'Lists the API keys that the caller may see, including revoked ones.',
    details: 'In order of creation, without the text of the keys.',
    query: LIST,
    answers: { 200: apiKeys.schema },
    codes: [],
    async handle({ query, caller: { tenant, scope } }) {
      const { owner } = query
      const page = await deps.store.listApiKeys(tenant, { ...pageOf(query), owner, scope })
      return { status: 200, body: apiKeys(page) }
    },
  })
}

function readApiKey(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/api-keys/{id}',
    permission: 'api-keys:read',
    operation: 'readApiKey',
    summary: 'Reads an API key.',
    details: 'Without the text of the key. `last_used_at` may be about six minutes late.',
    params,
    answers: { 200: apiKey.schema },
    tagged: true,
    codes: ['api_key_not_found'],
    async handle({ params: { id }, caller: { tenant, scope } }) {
      const stored = await deps.store.readApiKey(tenant, id, scope)
      return isRefusal(stored) ? stored : tagged(apiKeyTag(stored), apiKey(stored))
    },
  })
}

function revokeApiKey(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'DELETE',
    path: '/v1/api-keys/{id}',
    permission: 'api-keys:delete',
    operation: 'revokeApiKey',
    summary: 'Revokes an API key.',
    details: 'Once it has been answered, no instance accepts the key.',
    params,
    answers: { 204: null },
    conditional: true,
    codes: ['grant_exceeds_own', 'api_key_not_found'],
    async handle({ params: { id }, ifMatch, caller }) {
      const write = deps.store.revokeApiKey(writerOf(caller, deps, ifMatch), id)
      return respondToWrite(write, deps, noContent)
    },
  })
}

/** @param now ms since the epoch; `expires_at` must be later */
export function apiKeyInput(body: ValueOf<typeof apiKeySchema>, now: number): ApiKeyInput | AdminRefusal {
  const { name, seats, expires_at = null, owner = null } = body
  const expiresAt = expires_at === null ? null : parseDateTime(expires_at)
  if (expiresAt !== null && expiresAt <= now) {
    return inputInvalid([{ path: '/expires_at', message: 'must be in the future' }])
  }
  return { name, seats, expiresAt, owner }
}
