/** A gateway with a decision listener, and questions to it. */

import type { Test } from 'tap'
import { Client } from '../support/client.ts'
import { RawHttp2 } from '../support/raw-http2.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'

export type Asking = Awaited<ReturnType<typeof startAsking>>

/** A decision listener and a client of it. @param url the listener's, where it has one */
export async function startDeciding(t: Test, options: WorldOptions, url?: string) {
  const setting = url === undefined ? '' : `, url: "${url}"`
  const decision = `decision: { listen: 127.0.0.1:0${setting} }`
  const world = await startWorld(t, { ...options, top: [...(options.top ?? []), decision] })
  const port = decisionPort(world)
  const client = new Client(port)
  t.teardown(() => client.close())
  /** Makes an API key. */
  const newKey = async (seats: readonly string[], tenant = 'acme'): Promise<{ id: string; key: string }> => {
    const { json } = await world.admin('POST', '/v1/api-keys', { name: 'pep', seats }, tenant)
    return { id: json.id, key: json.key }
  }
  return { world, port, newKey, send: client.send.bind(client) }
}

export async function startAsking(t: Test, options: WorldOptions = {}) {
  const { world, port, newKey, send } = await startDeciding(t, options)
  await world.seat('reader', ['main'], ['trainings:read'])
  // Of the Seat `reader`, which holds `trainings:read` in `main`.
  const { key, id: keyId } = await newKey(['reader'])
  /** A question over one kept-alive connection. */
  const ask = (path: string, headers: Record<string, string> | readonly string[], method = 'GET') =>
    send(method, path, headers)
  return { world, port, key, keyId, ask }
}

/** A connection with prior knowledge of HTTP/2, as that of a proxy. */
export function openHttp2(t: Test, port: number): RawHttp2 {
  const proxy = RawHttp2.plain(port)
  t.teardown(() => proxy.socket.destroy())
  return proxy
}

export function decisionPort({ gateway }: World): number {
  const { decision } = gateway.addresses
  if (decision === null) throw new Error('there is no decision listener')
  return decision.port
}

/** The fields of nginx' dialect. */
export function nginxFields(method: string, path: string, host = 'api.example.com'): Record<string, string> {
  return { 'x-original-method': method, 'x-original-url': `https://${host}${path}` }
}

/** The fields of Traefik, Caddy and HAProxy. */
export function forwardFields(
  method: string,
  path: string,
  host = 'api.example.com',
): Record<string, string> {
  return {
    'x-forwarded-method': method,
    'x-forwarded-uri': path,
    'x-forwarded-proto': 'https',
    'x-forwarded-host': host,
  }
}
