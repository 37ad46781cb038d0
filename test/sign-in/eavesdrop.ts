/** Collects every secret that the gateway and a provider exchange, for the search in log, metrics and store. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestProvider } from '../oidc/provider.ts'

const ASKED = ['code', 'code_verifier', 'refresh_token', 'token', 'client_secret']
const ANSWERED = ['access_token', 'refresh_token', 'id_token']

/** @param secrets receives each value that must not appear anywhere */
export function eavesdrop(provider: TestProvider, secrets: Set<string>): void {
  provider.instead = (request, response) => {
    noteRequest(request, secrets)
    noteAnswer(response, secrets)
    return false
  }
}

/** Observes the stream without consuming its data. */
function noteRequest(request: IncomingMessage, secrets: Set<string>): void {
  const { authorization = '' } = request.headers
  secrets.add(authorization.replace(/^\w+ /, ''))
  if (request.method !== 'POST') return
  const emit = request.emit.bind(request)
  request.emit = (event: string | symbol, ...values: unknown[]) => {
    if (event === 'data') noteForm(String(values[0]), secrets)
    return emit(event, ...values)
  }
}

function noteForm(text: string, secrets: Set<string>): void {
  const form = new URLSearchParams(text)
  for (const name of ASKED) secrets.add(form.get(name) ?? '')
}

function noteAnswer(response: ServerResponse, secrets: Set<string>): void {
  const end = response.end.bind(response) as (...values: unknown[]) => ServerResponse
  response.end = ((...values: unknown[]) => {
    const text = Buffer.isBuffer(values[0]) ? values[0].toString('utf8') : String(values[0])
    for (const name of ANSWERED)
      for (const [, value = ''] of text.matchAll(new RegExp(`"${name}":"([^"]+)"`, 'g'))) secrets.add(value)
    return end(...values)
  }) as ServerResponse['end']
}
