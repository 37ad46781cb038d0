/**
 * Pushed authorization requests (RFC 9126): the gateway sends the request to the provider, authenticated, and
 * the browser gets a reference to it. Used where the discovery document requires it of every client.
 */

import * as client from 'openid-client'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import type { Provider } from './provider.ts'
import { ProviderError, translateError } from './provider-errors.ts'
import { endpointError } from './token-endpoint.ts'

/** Characters. It becomes part of a header line; RFC 9101, section 5.2, expects at most 512. */
const MAX_REFERENCE = 2048
const VISIBLE = /^[\x21-\x7e]+$/

/**
 * The address for the browser, which contains the client id and the reference alone. Rejects with
 * ProviderError.
 */
export async function pushRequest(
  provider: Provider,
  parameters: Readonly<Record<string, string>>,
): Promise<URL> {
  const { configured, clientAuth, hasDpop } = await provider.discovered()
  const configuration = configured((fetch) => async (url, options) => {
    const response = await fetch(url, options)
    if (response.status === 201) return readable(response)
    throw await endpointError(response, 'pushed request', provider.tenant.oidc, { clientAuth, hasDpop })
  })
  try {
    return await client.buildAuthorizationUrlWithPAR(configuration, { ...parameters })
  } catch (cause) {
    throw translateError(cause, 'the pushed request')
  }
}

/**
 * The members that count. openid-client reads them, and needs `expires_in`, which only informs.
 *
 * @throws ProviderError
 */
async function readable(response: Response): Promise<Response> {
  const body = parseJson(await response.text())
  const reference = 'value' in body && isJsonObject(body.value) ? body.value.request_uri : null
  if (typeof reference !== 'string' || reference.length > MAX_REFERENCE || !VISIBLE.test(reference))
    throw new ProviderError(
      `the response to the pushed request has no request_uri of at most ${MAX_REFERENCE} visible characters`,
    )
  return Response.json({ request_uri: reference, expires_in: 60 }, { status: 201 })
}
