/** A whole gateway with TLS and HTTP/2 between clients and a service of gRPC. */

import { credentials } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { CERTIFICATES } from '../support/servers/tls.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'
import { Caller } from './client.ts'
import { type Kind, pathOf, Talk } from './service.ts'

export const ROUTES: readonly string[] = (['Unary', 'Collect', 'Count', 'Chat'] satisfies Kind[]).map(
  (kind) => `POST ${pathOf(kind)}: talk:${kind.toLowerCase()}`,
)

/** @param options `routes` are those of the table; by default each method has its permission */
export async function startGrpcWorld(t: Test, options: WorldOptions = {}) {
  const { files, server } = CERTIFICATES
  const talk = new Talk()
  const port = await talk.listen(t)
  const certificate = `cert: ${JSON.stringify(files.server)}, key: ${JSON.stringify(files.serverKey)}`
  const world = await startWorld(t, {
    routes: ROUTES,
    target: `http://127.0.0.1:${port}`,
    listen: `[{ address: "127.0.0.1:0" }, { address: "127.0.0.1:0", tls: { certificates: [{ ${certificate} }] }, http2: true }]`,
    ...options,
    upstream: ['protocol: h2c', ...(options.upstream ?? [])],
  })
  // The port with TLS and HTTP/2; the first one is for the requests of administrators.
  const secured = world.gateway.addresses.fronts[1]?.port ?? 0
  const security = credentials.createSsl(Buffer.from(server.ca))
  /** A client with a token for these Seats in the space north; null: without a credential. */
  const caller = async (
    hashPerm: readonly string[] | null,
    fields: Readonly<Record<string, string>> = {},
  ) => {
    const token = hashPerm === null ? null : `Bearer ${await world.token(hashPerm)}`
    const own = token === null ? {} : { authorization: token, space: 'north' }
    return new Caller(t, `localhost:${secured}`, { ...own, ...fields }, security)
  }
  return { world, talk, secured, caller }
}

/** A Seat with every permission of the table. */
export async function seatForAll(world: World): Promise<readonly string[]> {
  await world.seat('Talker', ['north'], ['talk:unary', 'talk:collect', 'talk:count', 'talk:chat'])
  return ['north:Talker']
}
