/** A whole gateway with TLS and HTTP/2 between clients and a service of gRPC. */

import { credentials } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { authority, startSecured } from '../http2/support.ts'
import type { World, WorldOptions } from '../support/world.ts'
import { Caller } from './client.ts'
import { type Kind, pathOf, Talk } from './service.ts'

export const ROUTES: readonly string[] = (['Unary', 'Collect', 'Count', 'Chat'] satisfies Kind[]).map(
  (kind) => `POST ${pathOf(kind)}: talk:${kind.toLowerCase()}`,
)

/** @param options `routes` are those of the table; by default each method has its permission */
export async function startGrpcWorld(t: Test, options: WorldOptions = {}) {
  const talk = new Talk()
  const port = await talk.listen(t)
  const world = await startSecured(t, {
    routes: ROUTES,
    target: `http://127.0.0.1:${port}`,
    ...options,
    upstream: ['protocol: h2c', ...(options.upstream ?? [])],
  })
  const security = credentials.createSsl(Buffer.from(authority.cert))
  /** A client with a token for these Seats in the space north; null: without a credential. */
  const caller = async (
    hashPerm: readonly string[] | null,
    fields: Readonly<Record<string, string>> = {},
  ) => {
    const own = hashPerm && { authorization: `Bearer ${await world.token(hashPerm)}`, space: 'north' }
    return new Caller(t, `localhost:${world.securePort}`, { ...own, ...fields }, security)
  }
  return { world, talk, caller }
}

/** A Seat with every permission of the table. */
export async function seatForAll(world: World): Promise<readonly string[]> {
  await world.seat('Talker', ['north'], ['talk:unary', 'talk:collect', 'talk:count', 'talk:chat'])
  return ['north:Talker']
}
