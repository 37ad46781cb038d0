/** One reading of a provider's JSON Web Key Set (RFC 7517, section 5). */

import { createLocalJWKSet, type JWK, type LocalJWKSet } from 'jose'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import type { FetchOptions } from './http.ts'
import { ProviderError } from './provider-error.ts'

export type KeyFetch = (url: string, options: FetchOptions) => Promise<Response>

const MAX_KEYS = 100

/** Rejects with ProviderTrouble. */
export async function readKeys(uri: string, fetch: KeyFetch): Promise<LocalJWKSet> {
  const response = await fetch(uri, { method: 'GET', headers: { accept: 'application/json' } })
  if (response.status !== 200)
    throw new ProviderError(`the provider's keys were answered with ${response.status}`)
  const parsed = parseJson(await response.text())
  if ('fault' in parsed || !isJsonObject(parsed.value) || !Array.isArray(parsed.value.keys))
    throw new ProviderError("the provider's keys are no JSON Web Key Set")
  // A symmetric key has no business there, and verifies nothing here.
  const keys = parsed.value.keys.filter((key) => isJsonObject(key) && key.kty !== 'oct')
  return createLocalJWKSet({ keys: keys.slice(0, MAX_KEYS) as JWK[] })
}
