/** Fetches a provider's JSON Web Key Set (RFC 7517, section 5). */

import { createLocalJWKSet, type JWK, type LocalJWKSet } from 'jose'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import type { FetchOptions } from './http.ts'
import { ProviderError } from './errors.ts'

export type KeyFetch = (url: string, options: FetchOptions) => Promise<Response>

const MAX_KEYS = 100

/** Rejects with ProviderError. */
export async function readKeys(uri: string, fetch: KeyFetch): Promise<LocalJWKSet> {
  const response = await fetch(uri, { method: 'GET', headers: { accept: 'application/json' } })
  if (response.status !== 200)
    throw new ProviderError(`the provider answered the request for its keys with ${response.status}`)
  const parsed = parseJson(await response.text())
  if ('fault' in parsed || !isJsonObject(parsed.value) || !Array.isArray(parsed.value.keys))
    throw new ProviderError("the provider's keys are not a JSON Web Key Set")
  // Symmetric keys are ignored.
  const keys = parsed.value.keys.filter((key) => isJsonObject(key) && key.kty !== 'oct')
  return createLocalJWKSet({ keys: keys.slice(0, MAX_KEYS) as JWK[] })
}
