/** Who has which Seat, by what: from a gateway or a store, for `seatgate grants review`. */

import type { Store } from '../../../seats-admin/index.ts'
import type { ApiKey } from '../../../seats-admin/model/api-key.ts'
import type { ListedGrant } from '../../../seats-admin/model/grant.ts'
import type { ApiKeyView, GrantView, SeatView, UserView } from '../remote/endpoint-answers.ts'
import { idOf } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { everyUser, grantsOf, keysOf, seatsOf } from '../seat-source.ts'

/** The lists of a tenant, as far as the caller sees them. */
export interface ReviewSource {
  seats(): AsyncIterable<Pick<SeatView, 'name' | 'spaces'>>
  /** In the order of `sub`. */
  users(): AsyncIterable<Pick<UserView, 'sub' | 'email' | 'last_sign_in' | 'seats'>>
  /** Those that have not ended. */
  grants(): AsyncIterable<GrantView>
  /** Revoked and expired ones too. */
  keys(): AsyncIterable<ReviewedKey>
}

export type ReviewedKey = Pick<
  ApiKeyView,
  'id' | 'name' | 'owner' | 'seats' | 'expires_at' | 'revoked_at' | 'last_used_at'
>

export function ofGateway(gateway: Gateway): ReviewSource {
  return {
    seats: () => items(gateway.pages<SeatView>('/v1/seats', idOf)),
    users: () => items(gateway.pages<UserView>('/v1/users', ({ sub }) => sub)),
    grants: () => items(gateway.pages<GrantView>('/v1/grants', idOf)),
    keys: () => items(gateway.pages<ApiKeyView>('/v1/api-keys', idOf)),
  }
}

async function* items<V>(pages: AsyncIterable<readonly V[]>): AsyncGenerator<V> {
  for await (const page of pages) yield* page
}

export function ofStore(store: Store, tenant: string): ReviewSource {
  return {
    seats: () => seatsOf(store, tenant),
    users: () =>
      shown(everyUser(store, tenant), ({ lastSignIn, ...user }) => ({
        ...user,
        last_sign_in: lastSignIn === null ? null : time(lastSignIn),
      })),
    grants: () => shown(grantsOf(store, tenant), grantViewOf),
    keys: () => shown(keysOf(store, tenant), keyViewOf),
  }
}

async function* shown<I, V>(all: AsyncIterable<I>, view: (item: I) => V): AsyncGenerator<V> {
  for await (const item of all) yield view(item)
}

/** As `GET /v1/grants` shows it. */
export function grantViewOf(grant: ListedGrant): GrantView {
  const { id, user, seat, seatName, from, until, reason, createdBy, createdAt } = grant
  return {
    ...{ id, user, seat: seatName, seat_id: seat, from: time(from), until: time(until) },
    ...(reason === null ? {} : { reason }),
    ...{ created_by: createdBy, created_at: time(createdAt) },
  }
}

function keyViewOf({ id, name, owner, seats, expiresAt, revokedAt, lastUsedAt }: ApiKey): ReviewedKey {
  return {
    ...{ id, name, seats: [...seats] },
    ...(owner === null ? {} : { owner }),
    ...(expiresAt === null ? {} : { expires_at: time(expiresAt) }),
    ...(revokedAt === null ? {} : { revoked_at: time(revokedAt) }),
    ...(lastUsedAt === null ? {} : { last_used_at: time(lastUsedAt) }),
  }
}

function time(ms: number): string {
  return new Date(ms).toISOString()
}
